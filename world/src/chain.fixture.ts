import { startAnvil } from './anvil.ts';

/** Runs one kept chain until it is killed. Arguments: its state folder and its port. */
const [, , stateFolder = '', port = ''] = process.argv;
await startAnvil({
  ...{ name: 'storm', chainId: 31_337, stateFolder, port: Number(port), mining: 'manual' },
  log: (line) => console.log(line),
  onProcess: (pid) => console.log(`node ${pid}`),
});
console.log('ready');
