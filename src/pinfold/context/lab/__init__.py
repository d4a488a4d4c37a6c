"""The laboratory: published experiments, repeated with the code that everything else uses."""
