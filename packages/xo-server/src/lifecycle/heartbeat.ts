/** Index in the memory that main thread and watchdog share: number of heartbeats of the main thread. */
export const HEARTBEAT = 0;
/** Index in the shared memory: 1 while a debugger can be attached. */
export const DEBUGGER = 1;
