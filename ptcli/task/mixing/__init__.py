"""How often each of several tasks is trained.

A choice is an object: __call__(sizes) says how many steps of an epoch each task has, of as many as it needs to be seen
once.
"""
