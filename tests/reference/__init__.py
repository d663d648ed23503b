"""Random MDPs, plain implementations and checks that tests of several directories share.

Any test or conftest imports them: ``from reference.mdps import random_mdp``.
"""
