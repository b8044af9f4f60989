// Writes the migrations that count a new list of apps/server/src/db/counted-list.ts. Those that exist stay as they are.
//   node scripts/generate-lists.ts            writes
//   node scripts/generate-lists.ts --check    exits 1 when a list is not counted
import { writeFileSync } from 'node:fs';
import { readMigrations } from '@florin/pg';
import { missingListMigrations } from '@florin/server/documents';

const migrations = new URL('../apps/server/src/db/migrations/', import.meta.url);
const isCheck = process.argv.includes('--check');
const missing = missingListMigrations(await readMigrations({ migrations }));
for (const { file, text } of missing) {
  if (isCheck) console.error(`missing: apps/server/src/db/migrations/${file}\nrun: npm run generate`);
  else writeFileSync(new URL(file, migrations), text);
}
if (isCheck) process.exitCode = missing.length > 0 ? 1 : 0;
else console.log(`migrations of lists, ${missing.length} written`);
