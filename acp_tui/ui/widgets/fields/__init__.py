"""The parts that dialogs are made of; no dialog itself."""
