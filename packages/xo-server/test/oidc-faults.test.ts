import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import {
  createHmac,
  createPublicKey,
  createSign,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";
import t, { type Test } from "tap";
import { Browser } from "./browser.js";
import { startTestServer } from "./test-server.js";

// Each failure has a server of its own. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=300000");

/** For each request to the provider, in ms. */
const TIMEOUT_MS = 1_000;
/** Of a sign-in at a provider that does not answer, in ms: the machine may be busy. */
const LIMIT_MS = 15_000;

const CLIENT_SECRET = "secret of the client";

const newKey = () =>
  generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;

const encode = (value: object) =>
  Buffer.from(JSON.stringify(value)).toString("base64url");

function signedToken(key: KeyObject, kid: string, claims: object): string {
  const text = `${encode({ alg: "ES256", typ: "JWT", kid })}.${encode(claims)}`;
  const signature = createSign("sha256")
    .update(text)
    .sign({ key, dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}

type Claims = Readonly<Record<string, unknown>>;

/** The ID token of the provider. */
type Issue = (key: KeyObject, kid: string, claims: Claims) => string;

type Fault = (response: ServerResponse) => void;

/** A provider written by hand, whose answers can be replaced by path. */
async function startProvider(t: Test) {
  const faults = new Map<string, Fault>();
  const requests: string[] = [];
  const issue: Issue = signedToken;
  const state = { key: newKey(), kid: "k1", nonce: "", issue };
  const server = createServer((request, response) => {
    const path = request.url!.split("?")[0]!;
    requests.push(path);
    const fault = faults.get(path);
    if (fault !== undefined) {
      fault(response);
      return;
    }
    const answer = answers[path]?.();
    response.writeHead(answer === undefined ? 404 : 200, {
      "content-type": "application/json",
    });
    response.end(JSON.stringify(answer ?? {}));
  });
  server.listen(0, "127.0.0.3");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.3:${(server.address() as AddressInfo).port}`;
  const answers: Record<string, () => object> = {
    "/.well-known/openid-configuration": () => ({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
    }),
    "/jwks": () => ({
      keys: [
        {
          ...createPublicKey(state.key).export({ format: "jwk" }),
          kid: state.kid,
          use: "sig",
          alg: "ES256",
        },
      ],
    }),
    "/token": () => {
      const now = Math.floor(Date.now() / 1000);
      return {
        access_token: "access",
        token_type: "Bearer",
        id_token: state.issue(state.key, state.kid, {
          iss: issuer,
          sub: "ada",
          aud: "xo-server",
          iat: now,
          exp: now + 600,
          nonce: state.nonce,
          preferred_username: "ada",
        }),
      };
    },
  };
  return { issuer, faults, requests, state };
}

async function setUp(t: Test) {
  const provider = await startProvider(t);
  const oidc = {
    issuer: provider.issuer,
    clientId: "xo-server",
    clientSecret: CLIENT_SECRET,
    timeoutMs: TIMEOUT_MS,
  };
  const { host, lines } = await startTestServer(t, JSON.stringify({ oidc }));
  const enter = `http://${host}/signin/oidc`;
  /** @returns the address of the callback */
  const begin = async (browser: Browser) => {
    const answer = await browser.get(enter);
    const { searchParams } = new URL(answer.headers.get("location")!);
    provider.state.nonce = searchParams.get("nonce")!;
    const state = searchParams.get("state")!;
    return `${enter}/callback?code=1&state=${state}`;
  };
  const signIn = async () => {
    const browser = new Browser();
    return browser.get(await begin(browser));
  };
  return { ...provider, lines, enter, begin, signIn };
}

/** Answers that would never end, or never be small, or lead nowhere. */
function faultsAt(path: string): Readonly<Record<string, Fault>> {
  const head = { "content-type": "application/json" };
  return {
    "accepts and never answers": () => undefined,
    "sends headers and no body": (response) => {
      response.writeHead(200, head).flushHeaders();
    },
    trickles: (response) => {
      response.writeHead(200, head);
      const timer = setInterval(() => response.write(" "), 100);
      response.once("close", () => clearInterval(timer));
    },
    "answers 10 MB": (response) => {
      response.writeHead(200, head).end(`"${"x".repeat(10 * 2 ** 20)}"`);
    },
    "redirects in a loop": (response) => {
      response.writeHead(302, { location: path }).end();
    },
    "cuts the connection": (response) => {
      response.destroy();
    },
    "answers with other JSON": (response) => {
      response.writeHead(200, head).end("[1]");
    },
  };
}

for (const path of ["/.well-known/openid-configuration", "/token", "/jwks"])
  t.test(
    `a sign-in ends in time if ${path} of the provider fails`,
    LIMIT,
    async (t) => {
      for (const [name, fault] of Object.entries(faultsAt(path))) {
        // The server keeps what it has read of a provider.
        const { faults, requests, signIn, enter, lines } = await setUp(t);
        faults.set(path, fault);
        const startedAt = performance.now();
        const { status } = path.startsWith("/.well-known")
          ? await new Browser().get(enter)
          : await signIn();
        const ms = performance.now() - startedAt;
        // A token that is not valid, or cannot be verified, is refused.
        const isRefused = !path.startsWith("/.well-known") && status === 403;
        t.ok(isRefused || status === 503, `${name}: ${status}`);
        t.ok(ms < LIMIT_MS, `${name}: ${Math.round(ms)} ms`);
        t.same(
          requests.filter((one) => one === path),
          [path],
          `${name}: requested once`,
        );
        faults.clear();
        t.equal((await signIn()).status, 302, `${name}: the next sign-in`);
        t.notMatch(lines.join(""), CLIENT_SECRET);
      }
    },
  );

t.test("a provider may change its keys", async (t) => {
  const { state, signIn } = await setUp(t);
  t.equal((await signIn()).status, 302);
  Object.assign(state, { key: newKey(), kid: "k2" });
  // Keys that were read within the last minute are not read again at once.
  const { status } = await signIn();
  t.ok([302, 503].includes(status), String(status));
  t.equal((await signIn()).status, 302);
});

/** A token with a header of an attacker, and the signature for it. */
const tokenWith = (
  header: object,
  claims: Claims,
  sign: (text: string) => Buffer,
): string => {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${sign(text).toString("base64url")}`;
};

/** Signed as they should be, with other claims. */
const claiming =
  (changed: (claims: Claims) => object): Issue =>
  (key, kid, claims) =>
    signedToken(key, kid, { ...claims, ...changed(claims) });

const hmac = (secret: string) => (text: string) =>
  createHmac("sha256", secret).update(text).digest();

/** Tokens of an attacker who can change the response, or of the provider for another purpose. */
const forgedTokens: Readonly<Record<string, Issue>> = {
  "without a signature": (_key, kid, claims) =>
    tokenWith({ alg: "none", kid }, claims, () => Buffer.alloc(0)),
  "signed with the secret of the client": (_key, kid, claims) =>
    tokenWith({ alg: "HS256", kid }, claims, hmac(CLIENT_SECRET)),
  "signed with the public key as a secret": (key, kid, claims) => {
    const pem = createPublicKey(key).export({ type: "spki", format: "pem" });
    return tokenWith({ alg: "HS256", kid }, claims, hmac(String(pem)));
  },
  "signed with a key of its own header": (_key, kid, claims) => {
    const own = newKey();
    const jwk = createPublicKey(own).export({ format: "jwk" });
    return tokenWith({ alg: "ES256", kid, jwk }, claims, (text) =>
      createSign("sha256")
        .update(text)
        .sign({ key: own, dsaEncoding: "ieee-p1363" }),
    );
  },
  "signed with another key": (_key, kid, claims) =>
    signedToken(newKey(), kid, claims),
  "changed after it was signed": (key, kid, claims) => {
    const [head, , signature] = signedToken(key, kid, claims).split(".");
    return `${head}.${encode({ ...claims, sub: "root" })}.${signature}`;
  },
  "of another issuer": claiming(() => ({ iss: "https://id.example.net" })),
  "for another client": claiming(() => ({ aud: "another" })),
  "for two clients, issued to another one": claiming(() => ({
    aud: ["xo-server", "another"],
    azp: "another",
  })),
  "of another sign-in": claiming(() => ({ nonce: "another" })),
  "of no sign-in": claiming(() => ({ nonce: undefined })),
  expired: claiming(({ iat }) => ({
    iat: Number(iat) - 7200,
    exp: Number(iat) - 3600,
  })),
  "without an end": claiming(() => ({ exp: undefined })),
  "without a subject": claiming(() => ({ sub: undefined })),
};

t.test("forged and foreign ID tokens are refused", LIMIT, async (t) => {
  const { state, signIn, begin } = await setUp(t);
  t.equal((await signIn()).status, 302, "as it should be");
  for (const [name, issue] of Object.entries(forgedTokens)) {
    Object.assign(state, { issue });
    const answer = await signIn();
    t.equal(answer.status, 403, name);
    t.notMatch(answer.headers.getSetCookie().join(), /authenticationToken/);
  }
  Object.assign(state, { issue: signedToken });
  const browser = new Browser();
  const callback = `${await begin(browser)}&iss=https://id.example.net`;
  t.equal((await browser.get(callback)).status, 403, "of another provider");
  t.equal((await signIn()).status, 302, "afterwards");
});
