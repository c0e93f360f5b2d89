import { threadId } from "node:worker_threads";
import {
  toSharedBuffer,
  transferable,
  type RecordBatch,
  type RecordBuffer,
} from "@xo-server/model";
import { move, transferableSymbol, valueSymbol, workerData } from "piscina";
import {
  runTask,
  type DecodeFailure,
  type DecodeResult,
  type DecodeTask,
} from "./decode-task.js";
import { ClassRegistry, type ClassHints } from "./formats/class-registry.js";

const classes = new ClassRegistry(workerData as ClassHints);

/** Smaller records stay where they are: the inventory copies them. */
const MIN_SHARED_BYTES = 64 * 1024;

/** Entry point for piscina, called for each task. The buffers of the result are transferred or shared, not cloned. */
export default function decode(task: DecodeTask): unknown {
  task.run?.set([threadId, performance.timeOrigin + performance.now()]);
  const result = runTask(task, classes);
  if (task.isKept === true && !("failed" in result))
    result.batches = result.batches.map(toShared);
  const buffers = buffersOf(result);
  if (task.spareBytes !== undefined && task.spareBytes > 0) {
    result.spare = spareOf(task, task.spareBytes, buffers);
    buffers.push(result.spare);
  }
  return move({
    [transferableSymbol]: buffers,
    [valueSymbol]: result,
  });
}

function toShared(batch: RecordBatch): RecordBatch {
  const { buffer } = batch;
  return buffer instanceof ArrayBuffer && buffer.byteLength >= MIN_SHARED_BYTES
    ? { ...batch, buffer: toSharedBuffer(buffer) }
    : batch;
}

const PAGE = 4096;

/** The input buffer if it is not part of the result, else a new one with mapped pages. */
function spareOf(
  { pieces }: DecodeTask,
  length: number,
  usedBuffers: readonly ArrayBuffer[],
): ArrayBuffer {
  for (const { bytes } of pieces)
    if (bytes.byteLength === length && !usedBuffers.includes(bytes.buffer))
      return bytes.buffer;
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let at = 0; at < length; at += PAGE) bytes[at] = 0;
  return bytes.buffer;
}

function buffersOf(result: DecodeResult | DecodeFailure): ArrayBuffer[] {
  if ("failed" in result) return [];
  const buffers = new Set<RecordBuffer>([result.tail.buffer]);
  for (const { buffer, table, columns } of result.batches) {
    buffers.add(buffer);
    buffers.add(table.buffer);
    buffers.add(columns.buffer);
  }
  const { answer, tables = [] } = result;
  for (const { values, legend } of tables) {
    buffers.add(values.buffer);
    if (legend !== undefined) buffers.add(legend.buffer);
  }
  if (answer?.outcome === "success" && answer.value !== undefined)
    buffers.add(answer.value.buffer);
  return [...transferable([...buffers])];
}
