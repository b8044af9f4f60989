'use strict';
// The compiler of npm's package solc, a third faster. Its WebAssembly calls each function that may throw through JavaScript,
// which looks the function up in the module's table, and V8's lookup is slow. Here it is looked up once.
const { get, set } = WebAssembly.Table.prototype;
let table;
let functions = [];

WebAssembly.Table.prototype.get = function getKept(index) {
  if (this !== table) {
    table = this;
    functions = new Array(this.length).fill(undefined);
  }
  functions[index] ??= get.call(this, index);
  return functions[index];
};

WebAssembly.Table.prototype.set = function setAndForget(...args) {
  table = undefined;
  return set.apply(this, args);
};

// Not the package's own interface, which needs seven more packages for old compilers.
const compiler = require('solc/soljson.js');
const solidityCompile = compiler.cwrap('solidity_compile', 'string', ['string', 'number', 'number']);

module.exports = {
  version: compiler.cwrap('solidity_version', 'string', []),
  /** Standard JSON in and out. The input has every source. */
  compile: (input) => solidityCompile(input, 0, 0),
};
