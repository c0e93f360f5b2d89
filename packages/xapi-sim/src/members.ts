import { Listener, type TlsIdentity } from "./listener.js";

/** Where a member can be reached. */
export interface Member {
  readonly listener: Listener;
  /** As in HOST_IS_SLAVE: without a port if all members share one, else with the port. */
  readonly address: string;
}

const ATTEMPTS = 20;

/**
 * Opens the listeners of a pool, the coordinator first. Members listen on the
 * same port of the addresses that follow the coordinator's (127.0.0.2,
 * 127.0.0.3 ...), as real hosts share their port; where the system has only
 * 127.0.0.1, on another port of it.
 */
export async function openMembers(options: {
  readonly host: string;
  readonly port: number;
  readonly count: number;
  readonly tls: TlsIdentity | undefined;
}): Promise<Member[]> {
  for (let attempt = 1; ; attempt++) {
    const members: Member[] = [];
    try {
      const first = await open(options.host, options.port, options.tls);
      members.push({ listener: first, address: first.host });
      for (let i = 1; i < options.count; i++)
        members.push(await openMember(first, i, options.tls));
      return members;
    } catch (error) {
      await Promise.all(members.map(({ listener }) => listener.stop()));
      const { code } = error as NodeJS.ErrnoException;
      // The free port we were given may be taken on the next address.
      const again = code === "EADDRINUSE" && options.port === 0;
      if (!again || attempt === ATTEMPTS) throw error;
    }
  }
}

async function openMember(
  { host, port }: Listener,
  index: number,
  tls: TlsIdentity | undefined,
): Promise<Member> {
  const address = memberAddress(host, index);
  try {
    return { listener: await open(address, port, tls), address };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRNOTAVAIL") throw error;
    const listener = await open("127.0.0.1", 0, tls);
    return { listener, address: `127.0.0.1:${listener.port}` };
  }
}

/** `index` after a loopback address; members of other coordinators use 127.0.0.x. */
function memberAddress(coordinator: string, index: number): string {
  const loopback = /^(127\.\d+\.\d+)\.(\d+)$/.exec(coordinator);
  if (loopback === null) return `127.0.0.${index + 1}`;
  return `${loopback[1]}.${Number(loopback[2]) + index}`;
}

async function open(
  host: string,
  port: number,
  tls: TlsIdentity | undefined,
): Promise<Listener> {
  const listener = new Listener(tls);
  await listener.listen(host, port);
  return listener;
}
