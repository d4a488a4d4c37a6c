"""A store that a team's server keeps: each verb of the contract is one HTTP request. Source: docs/decisions/0017."""
