// Builds the documentation site into apps/docs/dist, once for each content:
//   node apps/docs/src/build.ts
import { buildSite } from './build-site.ts';

const startedAt = performance.now();
const { folder, isNew } = await buildSite();
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
console.log(
  isNew ? `built the documentation in ${seconds} s: ${folder}` : `the documentation is built: ${folder}`,
);
