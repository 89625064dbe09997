"""`python -m eval.report` prints the JSON schema of `results.json`: `docs/results.schema.json`."""

import json

from eval.report.results import json_schema

print(json.dumps(json_schema(), ensure_ascii=False, indent=2))
