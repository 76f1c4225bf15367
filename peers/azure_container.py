"""Makes a container on Azurite: `azure_container.py ENDPOINT ACCOUNT KEY CONTAINER`."""
import base64
import datetime
import hashlib
import hmac
import sys
import urllib.request

VERSION = "2021-08-06"


def main(endpoint, account, key, container):
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
    headers = f"x-ms-date:{date}\nx-ms-version:{VERSION}\n"
    # The emulator's addresses have the account in their path, so it occurs twice.
    resource = f"/{account}/{account}/{container}\nrestype:container"
    text = "PUT" + "\n" * 12 + headers + resource
    digest = hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()
    request = urllib.request.Request(f"{endpoint}/{container}?restype=container", method="PUT")
    request.add_header("x-ms-date", date)
    request.add_header("x-ms-version", VERSION)
    request.add_header("Content-Length", "0")
    request.add_header("Authorization", f"SharedKey {account}:{base64.b64encode(digest).decode()}")
    urllib.request.urlopen(request)


if __name__ == "__main__":
    main(*sys.argv[1:])
