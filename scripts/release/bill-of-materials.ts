import type { Closure, Lockfile } from './closure.ts';

export interface ReleaseFacts {
  readonly version: string;
  /** The release's date, ISO 8601: the time of its commit, so that two builds of one commit are equal. */
  readonly date: string;
  readonly nodeVersion: string;
}

/** The packages of a release as a software bill of materials: CycloneDX 1.6 in JSON, with the hashes of the lockfile. */
export function billOfMaterials(lockfile: Lockfile, { packages }: Closure, facts: ReleaseFacts) {
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: facts.date,
      component: {
        'bom-ref': `florin@${facts.version}`,
        type: 'application',
        name: 'florin',
        version: facts.version,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components: [
      {
        'bom-ref': `node@${facts.nodeVersion}`,
        type: 'platform',
        name: 'node',
        version: facts.nodeVersion,
        purl: `pkg:generic/node@${facts.nodeVersion}`,
      },
      ...packages.map((key) => componentOf(lockfile, key)),
    ],
  };
}

function componentOf(lockfile: Lockfile, key: string) {
  const { version = '', license, integrity = '', resolved } = lockfile[key] ?? {};
  const name = key.slice(key.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const [, sha512] = /^sha512-(.+)$/.exec(integrity) ?? [];
  return {
    // One package may stand in two places with one version.
    'bom-ref': key,
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
    ...(sha512 === undefined
      ? {}
      : { hashes: [{ alg: 'SHA-512', content: Buffer.from(sha512, 'base64').toString('hex') }] }),
    ...(resolved?.startsWith('https://')
      ? { externalReferences: [{ type: 'distribution', url: resolved }] }
      : {}),
  };
}
