import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";

const MAX_SECONDS = 60;

const diagnosticsRecordCpuProfile = defineOperation({
  name: "diagnostics.recordCpuProfile",
  summary:
    "Record a CPU profile of the main thread during the download, for Chromium's developer tools. Returns {$getFrom: path}.",
  params: Type.Object(
    {
      seconds: Type.Integer({
        default: 10,
        minimum: 1,
        maximum: MAX_SECONDS,
        description: "Duration, in s.",
      }),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({ $getFrom: Type.String() }),
  permission: "admin",
  changes: true,
  handler: ({ seconds }, context) => {
    const { oneTimePaths, cpuProfiler } = context.services;
    return oneTimePaths.offerDownload(
      async () => cpuProfiler.record(seconds * 1000),
      context,
      "xo-server.cpuprofile",
    );
  },
});

const diagnosticsWriteHeapSnapshot = defineOperation({
  name: "diagnostics.writeHeapSnapshot",
  summary:
    "Write a heap snapshot to a file in the data folder of the server. The server does not respond during that time: 1 to 4 s for each 50 MB of heap. The file contains secrets.",
  params: Type.Object({}),
  result: Type.Object({
    file: Type.String({ description: "Path of the file on the server." }),
    bytes: Type.Integer(),
    pauseMs: Type.Integer({
      description: "Duration in which the server did not respond, in ms.",
    }),
  }),
  permission: "admin",
  changes: true,
  handler: (_params, { services }) => services.heapSnapshots.write(),
});

/** Diagnostics of performance and memory, for admins. */
export const diagnosticsOperations = [
  diagnosticsRecordCpuProfile,
  diagnosticsWriteHeapSnapshot,
];
