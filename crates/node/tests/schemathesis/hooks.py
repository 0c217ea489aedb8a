"""What schemathesis does not vary: each request has the same time limit (run.py), so the description is read without it."""

import schemathesis


@schemathesis.hook
def before_load_schema(context, raw_schema):
    for operations in raw_schema["paths"].values():
        for operation in operations.values():
            if "parameters" in operation:
                operation["parameters"] = [parameter for parameter in operation["parameters"] if parameter["name"] != "lehr-timeout-ms"]
