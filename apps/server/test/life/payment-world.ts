import { after, before } from 'node:test';
import { startService } from '../../src/service/service.ts';
import { type Collector, startCollector } from '../harness/collector.ts';
import { Life } from './life.ts';

/** A small world whose service tells its metrics and its traces. */
export let life: Life;
export let monitoring = '';
export let collector: Collector;

before(async () => {
  collector = await startCollector();
  life = await Life.start(async (options) => {
    const tracing = { url: collector.url, share: 1 };
    const service = await startService({ ...options, tracing, monitoring: { host: '127.0.0.1', port: 0 } });
    monitoring = service.monitoring ?? '';
    return service;
  });
  life.mine();
});
after(async () => {
  await life.close();
  await collector.close();
});
