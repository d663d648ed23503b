"""The paper's parameters and bounds as plain functions of plain numbers."""
