import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { completeFile } from '../../test/harness/config-files.ts';
import { settingTable } from './setting-table.ts';
import { readSettings, settingsSchema } from './settings.ts';

const told = settingTable.flatMap(({ names, covers = [] }) => [...names, ...covers]);

test('the table of settings names what the readers ask for, and nothing else', () => {
  const paths = [...readSettings()].filter(([, { form }]) => form.type !== 'object').map(([path]) => path);
  const named = new Set(told.map((name) => name.replace(/\[\]$/, '')));
  const isTold = (path: string): boolean =>
    named.has(path) || /^signer\.(order|settler)\.|^signer\.settler2Key$/.test(path);
  assert.deepEqual(
    paths.filter((path) => !isTold(path)),
    [],
  );
  const known = new Set(readSettings().keys());
  assert.deepEqual(
    [...named].filter((name) => !known.has(name)),
    [],
  );
});

test('the table names the values that the readers use when a setting is absent', () => {
  const known = readSettings();
  const wrong = settingTable.filter(({ names, fallback = '' }) =>
    names.some((name) => {
      const form = known.get(name)?.form;
      const used = form !== undefined && 'fallback' in form ? form.fallback : undefined;
      return (
        used !== undefined &&
        !fallback
          .replaceAll('`', '')
          .split(/[ ,;]+/)
          .includes(String(used))
      );
    }),
  );
  assert.deepEqual(
    wrong.map(({ names }) => names),
    [],
  );
});

test('the schema takes a complete file, and refuses a misspelt setting and a wrong value', () => {
  const check = new Ajv2020({ strict: true, allErrors: true }).compile(settingsSchema());
  const mistakes = (file: unknown) => {
    check(file);
    return (check.errors ?? []).map(({ instancePath, keyword }) => `${instancePath} ${keyword}`);
  };
  assert.deepEqual(mistakes(completeFile()), []);
  assert.deepEqual(mistakes({ ...completeFile(), orign: 'x' }), [' additionalProperties']);
  assert.deepEqual(mistakes({ ...completeFile(), http: { port: 70_000 } }), ['/http/port maximum']);
  const { origin: _, ...without } = completeFile();
  assert.deepEqual(mistakes(without), [' required']);
});
