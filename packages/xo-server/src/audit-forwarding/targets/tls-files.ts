import { readFile } from "node:fs/promises";
import { XoError } from "@xo-server/model";
import type { TargetConfig } from "./target.js";

/** CA and client certificate for a connection, read for each, so that renewed files take effect. @throws XoError CONFIG_INVALID */
export async function readTlsFiles({
  caFile,
  certificateFile,
  keyFile,
}: Pick<TargetConfig, "caFile" | "certificateFile" | "keyFile">): Promise<{
  ca?: string;
  cert?: string;
  key?: string;
}> {
  return {
    ...(caFile === "" ? {} : { ca: await read(caFile) }),
    ...(certificateFile === "" ? {} : { cert: await read(certificateFile) }),
    ...(keyFile === "" ? {} : { key: await read(keyFile) }),
  };
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new XoError("CONFIG_INVALID", {
      where: file,
      reason: `cannot be read (${code})`,
    });
  }
}
