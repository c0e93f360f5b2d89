import { Readable } from "node:stream";
import t from "tap";
import { toBytes } from "../src/vms/parameters/byte-size.js";
import { readRows } from "../src/methods/storage/sr-probe-answer.js";
import { peek } from "../src/transfers/peek.js";
import { readVhdSize } from "../src/transfers/vhd-footer.js";
import { checkXva } from "../src/transfers/xva.js";

t.test("sizes are numbers of bytes, or texts", async (t) => {
  t.equal(toBytes(512), 512);
  t.equal(toBytes("512"), 512);
  t.equal(toBytes("10 GiB"), 10 * 2 ** 30);
  t.equal(toBytes("10G"), 10 * 2 ** 30);
  t.equal(toBytes("1.5 kB"), 1500);
  for (const text of ["", "GiB", "-1", "1 XiB", "1e400 GiB", "99999999 PiB"])
    t.throws(() => toBytes(text), { code: "INVALID_PARAMETERS" }, text);
});

t.test(
  "answers of storage drivers are read as far as they are known",
  async (t) => {
    const xml = `<?xml version="1.0" ?><nfs-exports>
    <Export><Target>s</Target><Path> /a &amp; b </Path><Accesslist>*</Accesslist></Export>
    <Export><Path>/c</Path></Export><Export><Path>/cut`;
    t.same(readRows(xml, "Export", { Path: "path", Accesslist: "acl" }), [
      { path: "/a & b", acl: "*" },
      { path: "/c" },
    ]);
    t.same(readRows("", "Export", { Path: "path" }), []);
  },
);

function footer(change: (bytes: Buffer) => void = () => undefined): Buffer {
  const bytes = Buffer.alloc(512);
  bytes.write("conectix", 0, "latin1");
  bytes.writeBigUInt64BE(2n ** 31n, 48);
  bytes.writeUInt32BE(3, 60);
  change(bytes);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.writeUInt32BE(~sum >>> 0, 64);
  return bytes;
}

t.test("the size of a VHD is read, of other formats not", async (t) => {
  t.equal(readVhdSize(footer()), 2 ** 31);
  const differing = footer((bytes) => bytes.writeUInt32BE(4, 60));
  const huge = footer((bytes) => bytes.writeBigUInt64BE(2n ** 63n, 48));
  const wrongSum = footer();
  wrongSum[100] = 1;
  const bad = [
    differing,
    huge,
    wrongSum,
    Buffer.alloc(512),
    Buffer.alloc(0),
    footer().subarray(0, 511),
  ];
  for (const bytes of bad)
    t.throws(() => readVhdSize(bytes), { code: "INVALID_PARAMETERS" });
});

t.test("a look at the first bytes consumes none", async (t) => {
  const parts = [
    Buffer.from("ova"),
    Buffer.from(".xml\0\0\0"),
    Buffer.alloc(9),
  ];
  const body = Readable.from(parts, { objectMode: false });
  await checkXva(body);
  t.equal((await peek(body, 7)).toString(), "ova.xml");
  const all: Buffer[] = [];
  for await (const chunk of body) all.push(chunk as Buffer);
  t.ok(Buffer.concat(all).equals(Buffer.concat(parts)));
  for (const text of ["", "ov", "MZ"]) {
    const other = Readable.from([Buffer.from(text)], { objectMode: false });
    await t.rejects(checkXva(other), { code: "INVALID_PARAMETERS" });
  }
  const broken = new Readable({ read: () => undefined });
  const looked = peek(broken, 4);
  broken.destroy(new Error("cut"));
  await t.rejects(looked, { message: "cut" });
});
