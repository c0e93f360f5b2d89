import type { Duplex } from "node:stream";

/** A guest's serial line: a login prompt that echoes input and rejects all logins. */
export async function runTerminal(
  stream: Duplex,
  guest: { readonly name: string },
): Promise<void> {
  stream.write(`\r\n${guest.name} ttyS0\r\n\r\n${guest.name} login: `);
  let line = "";
  for await (const chunk of stream as AsyncIterable<Buffer>)
    for (const char of chunk.toString("utf8")) {
      if (char === "\r" || char === "\n") {
        stream.write(
          `\r\n${line === "" ? "" : "Login incorrect\r\n\r\n"}${guest.name} login: `,
        );
        line = "";
      } else if (char === "\x7f" || char === "\b") {
        if (line !== "") stream.write("\b \b");
        line = line.slice(0, -1);
      } else if (char >= " ") {
        line += char;
        stream.write(char);
      }
    }
  stream.end();
}
