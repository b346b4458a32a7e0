import sys

from ptcli.cli import main

sys.exit(main())
