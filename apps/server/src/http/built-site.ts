import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type Coding, codeFile } from './compression.ts';

/** One file of the site, as it is served. */
export interface SiteFile {
  readonly type: string;
  /** The content in a coding, compressed at the first request. */
  bytesIn(coding: Coding): Promise<Buffer>;
  readonly etag: string;
}

/** A whole build of the site. */
export interface BuiltSite {
  readonly build: string;
  /** The content security policy of its pages. */
  readonly policy: string;
  /** A file by its path within the build; undefined when the build has none of this name. */
  find(name: string): Promise<SiteFile | undefined>;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  // The names of pages' scripts, which a page reads when it finds one missing.
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.xml': 'application/xml',
};

/**
 * Finds the newest build in a folder; undefined before the first one. The builder renames `current.json` into place
 * when a build is complete. Each file is read and adapted at its first request, and then cached. The cache cannot
 * grow without bound, because its names are those of the build.
 * @param adapt Replaces the example values of a text by those of the installation.
 */
export function siteFinder(
  folder: string,
  adapt: (text: string) => string,
): () => Promise<BuiltSite | undefined> {
  let site: BuiltSite | undefined;
  return async () => {
    const current = await readCurrent(join(folder, 'current.json'));
    if (current === undefined) return undefined;
    if (current.build !== site?.build) site = await openBuild(folder, current, adapt);
    return site;
  };
}

async function readCurrent(file: string): Promise<{ build: string; policy: string } | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as { build: string; policy: string };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function openBuild(
  folder: string,
  { build, policy }: { build: string; policy: string },
  adapt: (text: string) => string,
): Promise<BuiltSite> {
  const root = join(folder, build);
  const names = new Set((await readdir(root, { recursive: true })).filter((name) => extname(name) in types));
  const files = new Map<string, Promise<SiteFile>>();
  return {
    build,
    policy,
    async find(name) {
      if (!names.has(name)) return undefined;
      const file = files.get(name) ?? readSiteFile(join(root, name), adapt);
      files.set(name, file);
      return file;
    },
  };
}

async function readSiteFile(path: string, adapt: (text: string) => string): Promise<SiteFile> {
  const text = adapt(await readFile(path, 'utf8'));
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 16);
  const bytes = Buffer.from(text);
  const coded = new Map<Coding, Promise<Buffer>>();
  return {
    type: types[extname(path)] ?? '',
    etag: `W/"${hash}"`,
    bytesIn(coding) {
      const known = coded.get(coding) ?? codeFile(bytes, coding);
      coded.set(coding, known);
      return known;
    },
  };
}
