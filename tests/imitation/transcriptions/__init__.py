"""Rival imitation learners as their papers print them, in plain NumPy, on plain arrays.

Each takes a kernel P [X, A, X], nu0 [X] and gamma, expert data as arrays, and a generator. What a
learner knows of P is said in its docstring; the others only play it (`common.Play`).
"""
