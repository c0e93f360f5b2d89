import { inflateSync } from "node:zlib";
import t from "tap";
import {
  readConsole,
  type ConsoleScreenshot,
} from "../src/console/read-console.js";
import { startRfbServer, type FakeScreen } from "./fake-rfb-server.js";
import { rejectsSafely } from "./rejects-safely.js";
import { seededRandom } from "./random.js";

const colourAt = (x: number, y: number) =>
  (x << 16) | (y << 8) | ((x * y) & 255);
const screen: FakeScreen = { width: 200, height: 121, colourAt };
const headers = { Cookie: "session_id=secret" };

/** The pixels of a PNG, 3 bytes each. */
function decode({ png, width, height }: ConsoleScreenshot): Buffer {
  const bytes = Buffer.from(png, "base64");
  const at = bytes.indexOf("IDAT");
  const length = bytes.readUInt32BE(at - 4);
  const rows = inflateSync(bytes.subarray(at + 4, at + 4 + length));
  const pixels = Buffer.alloc(3 * width * height);
  for (let y = 0; y < height; y++)
    for (let i = 0; i < 3 * width; i++) {
      const left = i < 3 ? 0 : pixels[3 * width * y + i - 3]!;
      pixels[3 * width * y + i] = rows[(3 * width + 1) * y + 1 + i]! + left;
    }
  return pixels;
}

for (const version of ["003.003", "003.007", "003.008", "003.889"])
  t.test(
    `the picture of a console has its colours (RFB ${version})`,
    async (t) => {
      const url = await startRfbServer(t, { screen, version });
      const picture = await readConsole({ url, headers });
      t.match(picture, { width: 200, height: 121 });
      const pixels = decode(picture);
      for (const [x, y] of [
        [0, 0],
        [199, 60],
        [17, 61],
        [199, 120],
      ] as const)
        t.equal(pixels.readUIntBE(3 * (200 * y + x), 3), colourAt(x, y));
    },
  );

t.test("a screen that changes its size is read at its new size", async (t) => {
  const url = await startRfbServer(t, { screen, oldSize: [80, 25] });
  t.match(await readConsole({ url, headers }), { width: 200, height: 121 });
});

t.test(
  "large pictures and such that do not compress are made smaller",
  async (t) => {
    const grey = { width: 1_600, height: 900, colourAt: () => 0x808080 };
    const large = await readConsole({
      url: await startRfbServer(t, { screen: grey }),
      headers,
    });
    t.match(large, { width: 800, height: 450 });
    t.equal(decode(large).readUIntBE(3 * 1_000, 3), 0x808080);
    const random = seededRandom(1);
    const noise = {
      width: 640,
      height: 480,
      colourAt: () => Math.floor(random() * 2 ** 24),
    };
    const small = await readConsole({
      url: await startRfbServer(t, { screen: noise }),
      headers,
    });
    t.ok(Buffer.from(small.png, "base64").length <= 128 * 1024);
    t.match(small, { width: 160, height: 120 });
  },
);

t.test("what cannot be read is an error without the session", async (t) => {
  const refused = async (
    [code, message]: readonly [string, RegExp],
    options: Partial<Parameters<typeof startRfbServer>[1]>,
  ) => {
    const url = await startRfbServer(t, { screen, ...options });
    const work = readConsole({ url, headers, stallMs: 500 });
    await rejectsSafely(t, work, code, message);
  };
  const password = ["source-invalid", /requires a password/] as const;
  await refused(password, { security: [2] });
  await refused(password, { security: [2], version: "003.003" });
  await refused(["source-invalid", /not an RFB server/], {
    version: "abc.def",
  });
  await refused(["source-invalid", /60000 x 60000 pixels/], {
    oldSize: [60_000, 60_000],
  });
  await refused(["transfer-failed", /status 500/], {
    status: "500 Internal Server Error",
  });
  await refused(["transfer-failed", /no screenshot within 500 ms/], {
    isSilent: true,
  });
});

t.test("a server that sends nothing but rectangles is given up", async (t) => {
  const floods = [
    {
      name: "empty ones, as high as the screen",
      flood: Array.from({ length: 20_000 }, () => [0, 8_192, 0] as const),
      expected: ["transfer-failed", /no screenshot within 1000 ms/] as const,
    },
    {
      name: "new sizes",
      flood: [[64, 64, -223] as const],
      expected: ["source-invalid", /changes its size again and again/] as const,
    },
  ];
  for (const { name, flood, expected } of floods) {
    const tall = { width: 1, height: 8_192, colourAt: () => 0 };
    const url = await startRfbServer(t, { screen: tall, flood });
    const startedAt = performance.now();
    const work = readConsole({ url, headers, stallMs: 1_000 });
    const [code, message] = expected;
    await rejectsSafely(t, work, code, message);
    const ms = performance.now() - startedAt;
    t.ok(ms < 20_000, `${name}: ${Math.round(ms)} ms`);
  }
});
