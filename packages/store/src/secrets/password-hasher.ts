import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { XoError } from "@xo-server/model";

/** Cost of one hash: `2 ** ln * r * 128` bytes of memory, `p` times the work of that. */
export interface ScryptCost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** OWASP's "N=2^15, r=8, p=3" (Password Storage Cheat Sheet): 32 MiB, and as much work as the usual "N=2^17, p=1". */
export const defaultScryptCost: ScryptCost = { ln: 15, r: 8, p: 3 };

/** Concurrent hashes: Node's pool of four threads is also needed for files and DNS. */
const MAX_CONCURRENT = 2;
/** Maximum of queued checks; more indicate password guessing. */
const MAX_WAITING = 100;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Limit for the cost in a stored hash: 1 GiB of memory. */
const MAX_LN = 20;
const PHC =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{22,44})\$([A-Za-z0-9+/]{43})$/;

/** Hashes passwords, off the main thread, in PHC string format: `$scrypt$ln=15,r=8,p=3$salt$hash`. */
export class PasswordHasher {
  readonly #cost: ScryptCost;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(cost: ScryptCost) {
    this.#cost = cost;
  }

  async hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const hash = await this.#derive(password, salt, this.#cost);
    const { ln, r, p } = this.#cost;
    return `$scrypt$ln=${ln},r=${r},p=${p}$${unpadded(salt)}$${unpadded(hash)}`;
  }

  /** @param stored undefined takes as long as a wrong password, so that the time does not reveal which users exist */
  async verify(password: string, stored: string | undefined): Promise<boolean> {
    const parsed = stored === undefined ? undefined : parse(stored);
    const hash = await this.#derive(
      password,
      parsed?.salt ?? Buffer.alloc(SALT_BYTES),
      parsed?.cost ?? this.#cost,
    );
    return parsed !== undefined && timingSafeEqual(hash, parsed.hash);
  }

  /** Does the hash have another cost than the current one? */
  isOutdated(stored: string): boolean {
    const cost = parse(stored)?.cost;
    const { ln, r, p } = this.#cost;
    return cost?.ln !== ln || cost.r !== r || cost.p !== p;
  }

  async #derive(
    password: string,
    salt: Buffer,
    { ln, r, p }: ScryptCost,
  ): Promise<Buffer> {
    await this.#acquire();
    try {
      return await new Promise((resolve, reject) => {
        const options = { N: 2 ** ln, r, p, maxmem: 2 ** ln * r * 128 * 2 };
        scrypt(password.normalize("NFC"), salt, HASH_BYTES, options, (e, key) =>
          e === null ? resolve(key) : reject(e),
        );
      });
    } finally {
      this.#release();
    }
  }

  async #acquire(): Promise<void> {
    if (this.#running < MAX_CONCURRENT) {
      this.#running++;
      return;
    }
    if (this.#waiting.length >= MAX_WAITING)
      throw new XoError("TOO_MANY_REQUESTS", { reason: "passwords to check" });
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running--;
    else next();
  }
}

function parse(
  stored: string,
): { cost: ScryptCost; salt: Buffer; hash: Buffer } | undefined {
  const match = PHC.exec(stored);
  if (match === null) return undefined;
  const [, ln, r, p, salt, hash] = match;
  if (Number(ln) > MAX_LN || Number(r) > 8) return undefined;
  return {
    cost: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt!, "base64"),
    hash: Buffer.from(hash!, "base64"),
  };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
