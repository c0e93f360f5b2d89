import { move, transferableSymbol, valueSymbol, workerData } from "piscina";
import {
  runTask,
  type DecodeFailure,
  type DecodeResult,
  type DecodeTask,
} from "./decode-task.js";
import { ClassBook, type Hints } from "./hints.js";

const classes = new ClassBook(workerData as Hints);

/** What piscina calls for each task. The buffers of the result are transferred, never cloned. */
export default function decode(task: DecodeTask): unknown {
  const result = runTask(task, classes);
  return move({
    [transferableSymbol]: buffersOf(result),
    [valueSymbol]: result,
  });
}

function buffersOf(result: DecodeResult | DecodeFailure): ArrayBuffer[] {
  if ("failed" in result) return [];
  const buffers = new Set<ArrayBuffer>([result.tail.buffer]);
  for (const { buffer, table, columns } of result.batches) {
    buffers.add(buffer);
    buffers.add(table.buffer as ArrayBuffer);
    buffers.add(columns.buffer as ArrayBuffer);
  }
  const { answer } = result;
  if (answer?.outcome === "success" && answer.value !== undefined)
    buffers.add(answer.value.buffer);
  return [...buffers];
}
