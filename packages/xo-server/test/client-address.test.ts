import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import t from "tap";
import { ClientAddresses } from "../src/api/http/client-address.js";

interface Arrival {
  readonly from: string;
  readonly tls?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

function read(proxies: readonly string[], { from, tls, headers }: Arrival) {
  const socket = new Socket();
  Object.defineProperty(socket, "remoteAddress", { value: from });
  if (tls === true) Object.defineProperty(socket, "encrypted", { value: true });
  const request = new IncomingMessage(socket);
  Object.assign(request.headers, { host: "inner:9000", ...headers });
  const { address, isSecure, host } = new ClientAddresses(proxies).resolve(
    request,
  );
  return [address, isSecure ? "https" : "http", host];
}

const SPOOFED = {
  "x-forwarded-for": "6.6.6.6",
  "x-forwarded-proto": "https",
  "x-forwarded-host": "evil.example",
  forwarded: "for=6.6.6.6;proto=https;host=evil.example",
};

t.test(
  "without a trusted proxy no forwarded address is believed",
  async (t) => {
    const direct = ["192.0.2.1", "http", "inner:9000"];
    t.same(read([], { from: "192.0.2.1", headers: SPOOFED }), direct);
  },
);

t.test("an untrusted proxy is not believed", async (t) => {
  const direct = ["192.0.2.1", "http", "inner:9000"];
  const arrival = { from: "192.0.2.1", headers: SPOOFED };
  for (const proxies of [["192.0.2.2"], ["10.0.0.0/8"], ["2001:db8::/32"]])
    t.same(read(proxies, arrival), direct, String(proxies));
});

t.test(
  "a trusted proxy forwards the client's address and protocol",
  async (t) => {
    const headers = {
      "x-forwarded-for": "198.51.100.7",
      "x-forwarded-proto": "https",
      "x-forwarded-host": "xo.example",
    };
    const outer = ["198.51.100.7", "https", "xo.example"];
    t.same(read(["10.0.0.0/8"], { from: "10.1.2.3", headers }), outer);
    t.same(read(["10.1.2.3"], { from: "::ffff:10.1.2.3", headers }), outer);
  },
);

t.test("data that a client invented before is not read", async (t) => {
  const headers = { "x-forwarded-for": "6.6.6.6, 198.51.100.7" };
  const [address] = read(["10.0.0.1"], { from: "10.0.0.1", headers });
  t.equal(address, "198.51.100.7");
});

t.test("proxies behind proxies are followed as far as trusted", async (t) => {
  const headers = {
    "x-forwarded-for": "6.6.6.6, 198.51.100.7, 10.0.0.9",
    "x-forwarded-proto": "https",
  };
  const seen = read(["10.0.0.0/24"], { from: "10.0.0.1", headers });
  t.same(seen, ["198.51.100.7", "https", "inner:9000"]);
});

t.test("HVM guests receive the keys", async (t) => {
  const of = (forwarded: string) =>
    read(["10.0.0.1"], { from: "10.0.0.1", headers: { forwarded } });
  t.same(of('For="[2001:DB8::17]:4711";Proto=https;host="xo.example"'), [
    "2001:db8::17",
    "https",
    "xo.example",
  ]);
  t.same(of("for=6.6.6.6, for=198.51.100.7:80;proto=http"), [
    "198.51.100.7",
    "http",
    "inner:9000",
  ]);
  t.equal(of("for=_hidden")[0], "10.0.0.1", "a hidden one stays hidden");
  t.equal(of("for=unknown;;=;x")[0], "10.0.0.1");
});

t.test("where the two headers contradict, neither is believed", async (t) => {
  const headers = {
    "x-forwarded-for": "198.51.100.7",
    forwarded: "for=6.6.6.6;proto=https",
  };
  const seen = read(["10.0.0.1"], { from: "10.0.0.1", headers });
  t.same(seen, ["10.0.0.1", "http", "inner:9000"]);
});

t.test("an invalid address is ignored", async (t) => {
  for (const text of ["", ",,", "localhost", "1.2.3", "<script>", "::gg"])
    t.equal(
      read(["10.0.0.1"], {
        from: "10.0.0.1",
        headers: { "x-forwarded-for": text },
      })[0],
      "10.0.0.1",
      text,
    );
});

t.test("TLS that ends here counts by itself", async (t) => {
  t.equal(read([], { from: "192.0.2.1", tls: true })[1], "https");
  const headers = { "x-forwarded-for": "1.2.3.4", "x-forwarded-proto": "http" };
  const arrival = { from: "10.0.0.1", tls: true, headers };
  t.equal(read(["10.0.0.1"], arrival)[1], "http", "the way before was open");
});
