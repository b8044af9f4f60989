import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Podman = (...args: readonly string[]) => string;

const baseImage = 'docker.io/library/debian:bookworm-slim';
const wanted = ['podman', 'buildah', 'podman-compose', 'runc', 'netavark', 'aardvark-dns', 'mmdebstrap'];

/** Podman with the settings that also work where control groups are not all there, and its environment; undefined: no podman. */
export function findPodman(
  folder: string,
): { readonly podman: Podman; readonly env: NodeJS.ProcessEnv } | undefined {
  const install = ['install', '-y', '-qq', '--no-install-recommends', ...wanted];
  if (spawnSync('podman-compose', ['--version']).error !== undefined)
    spawnSync('apt-get', install, { stdio: 'inherit' });
  const config = join(folder, 'containers.conf');
  writeFileSync(
    config,
    '[containers]\ndefault_ulimits=["nofile=20000:20000","nproc=4096:4096"]\n[engine]\nruntime="runc"\ncgroup_manager="cgroupfs"\n',
  );
  const env = { ...process.env, CONTAINERS_CONF: config };
  if (spawnSync('podman', ['info'], { env }).status !== 0) return undefined;
  const podman: Podman = (...args) =>
    execFileSync('podman', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
  return { podman, env };
}

/** The image that all others begin with: pulled, or made of Debian's packages where no registry of images answers. */
export function fetchBaseImage(podman: Podman, folder: string): void {
  const has = (args: readonly string[]) => {
    try {
      podman(...args);
      return true;
    } catch {
      return false;
    }
  };
  if (has(['image', 'exists', baseImage]) || has(['pull', '--quiet', baseImage])) return;
  const archive = join(folder, 'debian.tar');
  execFileSync('mmdebstrap', [
    '--quiet',
    '--variant=minbase',
    '--include=ca-certificates',
    'bookworm',
    archive,
  ]);
  podman('import', archive, baseImage);
}
