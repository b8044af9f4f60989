'use strict';
// npm's solc, a third faster. Its WebAssembly calls each function that may throw through JavaScript, which looks the
// function up in the module's table, and V8's lookup is slow. Here it is looked up once.
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

module.exports = require('solc');
