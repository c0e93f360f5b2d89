import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout } from "node:timers/promises";

const PROGRAM = "/usr/sbin/slapd";
const HOST = "127.0.0.1";

/** Ports that systems give to no socket by themselves: Linux gives those from 32768 on. */
const FIRST_PORT = 20_000;
const END_PORT = 32_000;
const MAX_TRIES = 5;

export const SERVICE_PASSWORD = "service-secret";

/** Why the tests of LDAP cannot run; false: they can. */
export const skipLdap =
  !existsSync(PROGRAM) && "Debian's slapd is not installed";

/** Users with their passwords, and groups with their members. */
const PEOPLE = `dn: dc=example
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: cn=service,dc=example
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: service
userPassword: ${SERVICE_PASSWORD}

dn: ou=people,dc=example
objectClass: organizationalUnit
ou: users

dn: uid=ada,ou=people,dc=example
objectClass: inetOrgPerson
uid: ada
cn: Ada
sn: L
mail: ada@example.net
userPassword: ada-secret

dn: uid=ben,ou=people,dc=example
objectClass: inetOrgPerson
uid: ben
cn: Ben
sn: B
userPassword: ben-secret

dn: uid=admin,ou=people,dc=example
objectClass: inetOrgPerson
uid: admin
cn: Not the admin here
sn: A
userPassword: other-secret

dn: uid=twin,ou=people,dc=example
objectClass: inetOrgPerson
uid: twin
cn: One
sn: T
userPassword: twin-secret

dn: uid=twin2,ou=people,dc=example
objectClass: inetOrgPerson
uid: twin2
uid: twin
cn: Other
sn: T
userPassword: twin-secret

dn: ou=groups,dc=example
objectClass: organizationalUnit
ou: groups

dn: cn=operators,ou=groups,dc=example
objectClass: groupOfNames
cn: operators
member: uid=ada,ou=people,dc=example
member: uid=ben,ou=people,dc=example

dn: cn=local,ou=groups,dc=example
objectClass: groupOfNames
cn: local
member: uid=ada,ou=people,dc=example

dn: cn=bosses,ou=groups,dc=example
objectClass: groupOfNames
cn: bosses
member: uid=ada,ou=people,dc=example

dn: cn=unix,ou=groups,dc=example
objectClass: posixGroup
cn: unix
gidNumber: 100
memberUid: ben
`;

export interface SlapdOptions {
  /** PEM; with them it speaks ldaps:// and StartTLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** A directory of our own: a folder, ports, and a process that may be killed. */
export class Slapd {
  readonly #folder = mkdtempSync(join(tmpdir(), "slapd-"));
  #ports: readonly [plain: number, secure: number] = [0, 0];
  #process: ChildProcess | undefined;

  static async start({ tls }: SlapdOptions = {}): Promise<Slapd> {
    const slapd = new Slapd();
    slapd.#write(tls);
    for (let tries = 1; ; tries++) {
      const plain = randomInt(FIRST_PORT, END_PORT);
      slapd.#ports = [plain, plain + 1];
      try {
        await slapd.start();
        return slapd;
      } catch (error) {
        // Another program uses one of them.
        if (tries === MAX_TRIES) throw error;
      }
    }
  }

  /** `ldap://`, for StartTLS or nothing. */
  get url(): string {
    return `ldap://${HOST}:${this.#ports[0]}`;
  }

  get secureUrl(): string {
    return `ldaps://${HOST}:${this.#ports[1]}`;
  }

  /** On the ports that it had before. @throws Error if it ends, as when another program uses one of them */
  async start(): Promise<void> {
    const urls = `${this.url}/ ${this.secureUrl}/`;
    this.#process = spawn(
      PROGRAM,
      // -d 0: in the foreground, and silent.
      ["-f", join(this.#folder, "slapd.conf"), "-h", urls, "-d", "0"],
      { stdio: "ignore" },
    );
    const server = this.#process;
    // A connection could reach another program on this port.
    while (!this.#hasPorts(server) || !(await this.#answers())) {
      if (server.exitCode !== null || server.signalCode !== null)
        throw new Error(`slapd ended: ${urls}`);
      await setTimeout(20);
    }
  }

  async kill(): Promise<void> {
    const slapd = this.#process;
    this.#process = undefined;
    if (slapd === undefined || slapd.exitCode !== null) return;
    const exited = once(slapd, "exit");
    slapd.kill("SIGKILL");
    await exited;
  }

  /** Takes no requests any more, but keeps its connections open. Resolves when all of its threads have stopped. */
  async freeze(): Promise<void> {
    const server = this.#process;
    if (server?.pid === undefined) return;
    server.kill("SIGSTOP");
    while (!isStopped(server.pid)) await nextTurn();
  }

  thaw(): void {
    this.#process?.kill("SIGCONT");
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #write(tls: SlapdOptions["tls"]): void {
    const file = (name: string, text: string) => {
      const path = join(this.#folder, name);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    };
    const data = join(this.#folder, "data");
    mkdirSync(data);
    const ldif = file("users.ldif", PEOPLE);
    const conf = file(
      "slapd.conf",
      [
        ...["core", "cosine", "inetorgperson", "nis"].map(
          (name) => `include /etc/ldap/schema/${name}.schema`,
        ),
        `pidfile ${join(this.#folder, "slapd.pid")}`,
        // As many directories do: a name with an empty password is a bind that succeeds.
        "allow bind_anon_dn",
        "modulepath /usr/lib/ldap",
        "moduleload back_mdb",
        ...(tls === undefined
          ? []
          : [
              `TLSCertificateFile ${file("tls.crt", tls.cert)}`,
              `TLSCertificateKeyFile ${file("tls.key", tls.key)}`,
            ]),
        "database mdb",
        "maxsize 16777216",
        'suffix "dc=example"',
        `directory ${data}`,
        "access to attrs=userPassword by self write by anonymous auth by * none",
        'access to * by dn.exact="cn=service,dc=example" write by * none',
        "",
      ].join("\n"),
    );
    execFileSync("/usr/sbin/slapadd", ["-f", conf, "-l", ldif], {
      stdio: "ignore",
    });
  }

  /** slapd writes its process id to a file when it has opened its ports. */
  #hasPorts({ pid }: ChildProcess): boolean {
    const file = join(this.#folder, "slapd.pid");
    return existsSync(file) && Number(readFileSync(file, "utf8")) === pid;
  }

  async #answers(): Promise<boolean> {
    const { port } = new URL(this.url.replace("ldap:", "http:"));
    const socket = connect(Number(port), HOST);
    try {
      await once(socket, "connect");
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  }
}

/** Linux: the state of each thread follows the name of its program, in parentheses [proc(5)]. */
function isStopped(pid: number): boolean {
  const threads = `/proc/${pid}/task`;
  return readdirSync(threads).every((thread) =>
    /\) T /.test(readFileSync(`${threads}/${thread}/stat`, "utf8")),
  );
}
