import { pipeline } from "node:stream/promises";
import type { ForeignSource } from "../foreign/foreign-vm.js";
import { OvaSource } from "../ovf/ova-source.js";
import { foreignImage, type ForeignPlan } from "../target/foreign-image.js";
import { VmwareSource } from "../vmware/vmware-source.js";
import { openInput } from "./open-input.js";
import { openOutput } from "./open-output.js";
import type { AskingContext } from "./order-context.js";
import type { ImportResult } from "./order-results.js";
import type { ImportOperation } from "./work-order.js";

/** Asks how the VM is imported, then writes it. @throws RepositoryError */
export async function runImport(
  { source: settings }: ImportOperation,
  context: AskingContext,
): Promise<ImportResult> {
  const { signal, request } = context;
  const source = await openSource(settings, context);
  try {
    const plan = (await request(source.vm)) as ForeignPlan;
    let written = 0;
    async function* counted(): AsyncGenerator<Buffer, void> {
      for await (const bytes of foreignImage(source, plan)) {
        yield bytes;
        written += bytes.length;
      }
    }
    await pipeline(counted(), openOutput(), { signal });
    return { written };
  } finally {
    await source.close?.();
  }
}

function openSource(
  settings: ImportOperation["source"],
  { signal, onProgress }: AskingContext,
): Promise<ForeignSource> {
  switch (settings.type) {
    case "ova":
      return OvaSource.open(openInput());
    case "vmware":
      return VmwareSource.open({ ...settings, signal, onProgress });
  }
}
