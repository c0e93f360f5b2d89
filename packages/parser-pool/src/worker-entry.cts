/*
 * What piscina loads in a worker thread: a promise of the function of `worker.js`.
 *
 * piscina loads a file by `require` first. A `require` of an ES module ends the whole
 * process ("v8::Module::IsGraphAsync must be used on an instantiated module", Node.js
 * 20.20.2) if the thread is terminated meanwhile; `import()` does not.
 */
module.exports = import("./worker.js").then((worker) => worker.default);
