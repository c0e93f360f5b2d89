import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";
import type { Test } from "tap";

export const CLIENT_ID = "xo-server";
export const CLIENT_SECRET = "client-secret";

/** Claims of a user besides their id. */
export type PersonClaims = Readonly<Record<string, unknown>>;

/** A provider of our own, on a free port, without passwords: `account` is the user of the browser. */
export class OidcServer {
  /** Who signs in next, as in `users`. */
  account = "ada";
  /** By subject. */
  readonly users = new Map<string, PersonClaims>([
    ["ada", { preferred_username: "ada", groups: ["operators", "bosses"] }],
    ["ben", { preferred_username: "ben" }],
  ]);
  /** Requests at the token endpoint. */
  tokenRequests = 0;
  /** false: answers nothing but errors. */
  isUp = true;
  /** Ends the way of a browser through the provider with this error. */
  denial: string | undefined;
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch(() => response.destroy());
  });
  #provider: Provider | undefined;

  static async start(t: Test): Promise<OidcServer> {
    const server = new OidcServer();
    server.#server.listen(0, "127.0.0.2");
    await once(server.#server, "listening");
    t.teardown(() => {
      server.#server.closeAllConnections();
      server.#server.close();
    });
    return server;
  }

  get issuer(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.2:${port}`;
  }

  /** @param redirectUri of the server whose users sign in here */
  register(redirectUri: string): void {
    this.#provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          redirect_uris: [redirectUri],
        },
      ],
      claims: { profile: ["preferred_username", "groups"], email: ["email"] },
      cookies: { keys: [randomBytes(16).toString("hex")] },
      features: { devInteractions: { enabled: false } },
      jwks: { keys: [(signingKey ??= createKey())] },
      pkce: { required: () => true },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, sub) => ({
        accountId: sub,
        claims: async () => ({ sub, ...this.users.get(sub) }),
      }),
      // Users are not asked for consent.
      loadExistingGrant: async ({ oidc }) => {
        const { client, session } = oidc;
        const grant = new this.#provider!.Grant({
          clientId: client!.clientId,
          accountId: session!.accountId!,
        });
        grant.addOIDCScope("openid profile email");
        await grant.save();
        return grant;
      },
    });
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { url = "" } = request;
    if (url === "/token") this.tokenRequests++;
    if (!this.isUp) {
      response.writeHead(503).end();
      return;
    }
    if (!url.startsWith("/interaction/"))
      return this.#provider!.callback()(request, response);
    await this.#provider!.interactionFinished(
      request,
      response,
      this.denial === undefined
        ? { login: { accountId: this.account } }
        : { error: this.denial },
    );
  }
}

/** One for all servers of this process: a key of RSA takes long to generate. */
let signingKey: ReturnType<typeof createKey> | undefined;

function createKey() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), use: "sig", kid: "k1" };
}
