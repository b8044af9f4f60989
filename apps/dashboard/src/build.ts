// Builds the dashboard's pages into apps/dashboard/dist, once for each content:
//   node apps/dashboard/src/build.ts
import { buildPages } from './build-pages.ts';

const startedAt = performance.now();
const { folder, isNew } = await buildPages();
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
console.log(isNew ? `built the dashboard in ${seconds} s: ${folder}` : `the dashboard is built: ${folder}`);
