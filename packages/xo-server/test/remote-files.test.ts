import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { ReachableAddresses } from "../src/transfers/reachable-addresses.js";
import { RemoteFiles } from "../src/transfers/remote-files.js";

const never = new AbortController().signal;

/** A server at a loopback address. @returns `address:port` */
async function serve(
  t: Test,
  address: string,
  answer: RequestListener,
): Promise<string> {
  const server = createServer(answer);
  server.listen(0, address);
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `${address}:${(server.address() as AddressInfo).port}`;
}

async function textOf(files: RemoteFiles, url: string): Promise<string> {
  const { body } = await files.open(url, never);
  return (await body.setEncoding("utf8").toArray()).join("");
}

t.test("public addresses are allowed, all others are not", async (t) => {
  const addresses = new ReachableAddresses([]);
  for (const address of ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111"])
    t.ok(addresses.has(address), address);
  for (const address of [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "172.31.255.255",
    "192.168.1.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:1.1.1.1",
    "64:ff9b::a00:1",
    "fd00::1",
    "fe80::1",
    "2001:db8::1",
    "2002:a00:1::",
  ])
    t.notOk(addresses.has(address), address);
});

t.test("addresses of the configured networks are allowed", async (t) => {
  const addresses = new ReachableAddresses(["10.0.0.0/8", "fd00::/16"]);
  t.ok(addresses.has("10.1.2.3"));
  t.ok(addresses.has("fd00::1"));
  t.notOk(addresses.has("192.168.1.1"));
  t.notOk(addresses.has("fd01::1"));
});

t.test("a file is fetched with its length", async (t) => {
  const host = await serve(t, "127.0.0.1", (_, response) =>
    response.end("content"),
  );
  const files = new RemoteFiles({ networks: ["127.0.0.1"] });
  const { length, body } = await files.open(`http://${host}/disk`, never);
  t.equal(length, 7);
  t.same(await body.setEncoding("utf8").toArray(), ["content"]);
});

t.test("a private address is refused before it gets a request", async (t) => {
  let requests = 0;
  const host = await serve(t, "127.0.0.1", (_, response) => {
    requests++;
    response.end();
  });
  const files = new RemoteFiles({ networks: ["10.0.0.0/8"] });
  const port = host.split(":")[1]!;
  for (const name of [host, `localhost:${port}`, `[::ffff:7f00:1]:${port}`])
    await t.rejects(files.open(`http://${name}/secret?key=1`, never), {
      code: "UNREACHABLE",
      message: /^[^/]*its address is private.*imports\.networks/,
    });
  t.equal(requests, 0);
});

t.test("a redirect is followed to allowed addresses only", async (t) => {
  let inner = 0;
  const internal = await serve(t, "127.0.0.2", (_, response) => {
    inner++;
    response.end("secret");
  });
  const host = await serve(t, "127.0.0.1", ({ url }, response) => {
    if (url === "/end") response.end("end");
    else {
      const location = url === "/inside" ? `http://${internal}/` : "/end";
      response.writeHead(302, { location }).end();
    }
  });
  const files = new RemoteFiles({ networks: ["127.0.0.1"] });
  t.equal(await textOf(files, `http://${host}/start`), "end");
  await t.rejects(files.open(`http://${host}/inside`, never), {
    code: "UNREACHABLE",
    message: /its address is private/,
  });
  t.equal(inner, 0);
});

t.test(
  "the address that was checked is the one that is connected to",
  async (t) => {
    const host = await serve(t, "127.0.0.1", (_, response) =>
      response.end("checked"),
    );
    let looked = 0;
    const files = new RemoteFiles({
      networks: ["127.0.0.1"],
      lookup: ((
        _name: string,
        _options: object,
        done: (error: null, found: object[]) => void,
      ) => {
        // A second look-up would have another answer.
        const address = looked++ === 0 ? "127.0.0.1" : "127.0.0.2";
        done(null, [{ address, family: 4 }]);
      }) as never,
    });
    const port = host.split(":")[1]!;
    t.equal(await textOf(files, `http://files.example:${port}/`), "checked");
    t.equal(looked, 1);
  },
);

t.test("endless redirects and other statuses are errors", async (t) => {
  const host = await serve(t, "127.0.0.1", ({ url }, response) => {
    if (url === "/absent") response.writeHead(404).end();
    else response.writeHead(302, { location: "/again" }).end();
  });
  const files = new RemoteFiles({ networks: ["127.0.0.1"] });
  await t.rejects(files.open(`http://${host}/again`, never), {
    message: /more than 5 redirects/,
  });
  await t.rejects(files.open(`http://${host}/absent`, never), {
    message: /HTTP status 404/,
  });
});

t.test("only URLs of web servers without credentials are valid", async (t) => {
  const files = new RemoteFiles({ networks: ["127.0.0.1"] });
  for (const url of [
    "file:///etc/passwd",
    "ftp://127.0.0.1/",
    "not a URL",
    "http://user:secret@127.0.0.1/",
  ])
    await t.rejects(
      files.open(url, never),
      { code: "INVALID_PARAMETERS", message: /url must/ },
      url,
    );
});
