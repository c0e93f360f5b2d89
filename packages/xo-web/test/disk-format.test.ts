import t from "tap";
import { readDiskFormat } from "../src/actions/plan/disk-format.js";

const file = (name: string, content: string, offset = 0) => {
  const bytes = Buffer.alloc(offset + content.length + 16);
  bytes.write(content, offset, "latin1");
  return new File([bytes], name);
};

t.test("the content decides, whatever the name of a file is", async (t) => {
  t.same(await readDiskFormat(file("disk.img", "conectix")), { type: "vhd" });
  const image = file("install.bin", "CD001", 0x8001);
  t.same(await readDiskFormat(image), { type: "iso" });
  t.same(await readDiskFormat(file("disk", "")), { type: "raw" });
});

t.test("the end of a VHD of fixed size is for the server", async (t) => {
  t.same(await readDiskFormat(file("disk.VHD", "")), { type: "vhd" });
});

t.test("formats that would be unusable as raw disks are named", async (t) => {
  const formatOf = async (...[name, ...content]: Parameters<typeof file>) => {
    const format = await readDiskFormat(file(name, ...content));
    return format.type === "unsupported" ? format.format : format.type;
  };
  t.equal(await formatOf("disk.raw", "KDMV"), "VMDK");
  t.equal(await formatOf("disk.raw", "QFI\u00fb"), "QCOW2");
  t.equal(await formatOf("disk.raw", "ustar", 257), "OVA, XVA or tar");
  t.equal(await formatOf("disk.raw.gz", "\u001f\u008b"), "gzip");
  t.equal(await formatOf("disk.vmdk", ""), "VMDK");
  t.equal(await formatOf("vm.XVA", ""), "XVA");
});

t.test("an empty file is no disk", async (t) => {
  const format = await readDiskFormat(new File([], "disk.raw"));
  t.same(format, { type: "unsupported", format: undefined });
});
