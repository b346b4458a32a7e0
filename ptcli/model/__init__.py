"""Encoders, put together from slots that `conf/model/<slot>/` fills and `ptcli/model/<slot>/` implements.

How `Encoder` calls the slots, and what each must offer. Facts are class attributes, readable without construction.

position    {name: factory(shape)}, any number of them. `enters` says where:
            "embedding": forward(position_ids) -> (B, S, E), added to the token embeddings;
            "query_key": forward(position_ids, dtype=) -> a callable that turns heads (B, S, 2, h, d_h), query and key;
            "bias": forward(position_ids) -> (B or 1, h, S, S), added to the attention scores of all layers.
            `extrapolates`: whether any length can be told apart; where not, `max_positions` is the limit.
attention   factory(shape, dropout=): forward(hidden, context) -> (B, S, H); flops_per_token(length).
            `accepts`: the ways in ("query_key", "bias", "value") that it takes; `causal`;
            `isolates`: whether it keeps the examples of one row apart.
ffn         factory(shape): forward(hidden); `activation`, which the masked-LM head uses too; flops_per_token().
norm        factory(size): forward(hidden).
residual    factory(size, norm=, dropout=): forward(hidden, sublayer, *args).
            `final_norm`: whether one more norm ends the stack.
sharing     an object: plan(num_layers) -> for each layer that runs, the numbers of its attention and of its ffn.
size        plain numbers, which the model's own keys take up through interpolation.
"""
