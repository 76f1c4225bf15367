"""Runs moto's server with authorisation switched on, until its input ends.

Prints one line of JSON: the endpoint, the keys of a user who may do everything, and those of users who may less.
"""
import json
import sys
import threading
import urllib.request

import boto3
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

EVERYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}
NO_LISTS = {"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"], "Resource": "*"}


def user(iam, name, *statements):
    """Makes a user and returns its keys."""
    iam.create_user(UserName=name)
    document = json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
    if statements:
        iam.put_user_policy(UserName=name, PolicyName="all", PolicyDocument=document)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return key["AccessKeyId"], key["SecretAccessKey"]


class OneByOne:
    """Answers one request after the other: moto checks a condition and puts in two steps."""

    def __init__(self):
        self.app, self.lock = DomainDispatcherApplication(create_backend_app), threading.Lock()

    def __call__(self, environ, start_response):
        with self.lock:
            return list(self.app(environ, start_response))


def main():
    server = make_server("127.0.0.1", 0, OneByOne(), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    names = dict(
        endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="any", aws_secret_access_key="any"
    )
    s3 = boto3.client("s3", **names)
    for bucket in ("bucket", "versioned"):
        s3.create_bucket(Bucket=bucket)
    s3.put_bucket_versioning(Bucket="versioned", VersioningConfiguration={"Status": "Enabled"})
    iam = boto3.client("iam", **names)
    told = {"endpoint": endpoint}
    told["key"], told["secret"] = user(iam, "all", EVERYTHING)
    told["reader"] = user(iam, "reader", NO_LISTS)
    told["nobody"] = user(iam, "nobody")
    # From here on every request is checked.
    headers = {"Content-Type": "text/plain"}
    urllib.request.urlopen(urllib.request.Request(endpoint + "/moto-api/reset-auth", b"0", headers))
    print(json.dumps(told), flush=True)
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    main()
