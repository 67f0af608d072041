import asyncio
import os
import sys
import time

library, *steps = sys.argv[1:]
BODY = os.environ["BODY"]


def parts(step):
    """The parts of a request, or the seconds to wait."""
    method, url, key, expect = step.split(" ")
    if method == "WAIT":
        return int(url)
    headers = {"Authorization": "Bearer " + os.environ["TOKEN"], "Content-Type": "application/json"}
    if key != "-":
        headers["Idempotency-Key"] = key
    return method, url, headers, BODY if method in ("POST", "PATCH") else None, expect != "-"


def one_by_one(send):
    for step in steps:
        request = parts(step)
        if isinstance(request, int):
            time.sleep(request)
            continue
        method, url, headers, body, expect = request
        if expect:
            headers["Expect"] = "100-continue"
        try:
            response = send(method, url, headers, body)
            print(response.status_code, len(response.content), flush=True)
        except Exception as error:
            print("error", type(error).__name__, error, flush=True)


async def with_aiohttp():
    import aiohttp

    async with aiohttp.ClientSession() as session:
        for step in steps:
            request = parts(step)
            if isinstance(request, int):
                await asyncio.sleep(request)
                continue
            method, url, headers, body, expect = request
            try:
                async with session.request(method, url, headers=headers, data=body, expect100=expect) as response:
                    content = await response.read()
                    print(response.status, len(content), flush=True)
            except Exception as error:
                print("error", type(error).__name__, error, flush=True)


if library == "aiohttp":
    asyncio.run(with_aiohttp())
elif library == "httpx":
    import httpx

    with httpx.Client() as client:
        one_by_one(lambda method, url, headers, body: client.request(method, url, headers=headers, content=body))
else:
    import requests

    session = requests.Session()
    if library == "requests-retry":
        from urllib3.util import Retry

        retry = Retry(total=3, status_forcelist=[429, 500, 502, 503, 504])
        session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retry))
    one_by_one(lambda method, url, headers, body: session.request(method, url, headers=headers, data=body))
