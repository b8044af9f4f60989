import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * When the newest whole archive of a folder was finished: a file that `florin backup` or a script of the operator has named
 * with `.gz` or `.gz.age` at its end. Undefined for a folder without one; rejects for a folder that cannot be read.
 */
export async function findNewestBackup(folder: string): Promise<Date | undefined> {
  const names = (await readdir(folder)).filter((name) => /\.gz(\.age)?$/.test(name));
  const files = await Promise.all(names.map((name) => stat(join(folder, name))));
  const times = files.filter((file) => file.isFile() && file.size > 0).map((file) => file.mtimeMs);
  return times.length === 0 ? undefined : new Date(Math.max(...times));
}
