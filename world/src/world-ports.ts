import type { WorldHome, WorldPorts } from './home.ts';
import { findNextFreePort, isPortFree } from './port.ts';

/** Where a world is that was never started and is asked for no port. */
const DEFAULT_PORT = 4_000;

/** What a world needs to choose its ports. */
export interface PortChoice {
  readonly home: WorldHome;
  /** `FLORIN_PORT`; the port of the last start when absent. */
  readonly asked: number | undefined;
  /** Names of kept ports that this start does not use. */
  readonly unused: readonly string[];
  readonly log: (line: string) => void;
}

/** Chooses the ports of a start and keeps them. When the service's is taken, it gets the next free one, which is said. */
export const choosePorts = async ({
  home,
  asked,
  unused,
  log,
}: PortChoice): Promise<{ readonly port: number; readonly ports: WorldPorts }> => {
  const ports = await home.keepPorts();
  const wanted = asked ?? home.readServicePort() ?? DEFAULT_PORT;
  const port = await findNextFreePort(wanted, Object.values(ports));
  if (port !== wanted)
    log(
      `  ! Port ${wanted} is taken: this world is at port ${port}, and stays there until FLORIN_PORT names another.`,
    );
  for (const [name, kept] of Object.entries(ports)) {
    if (unused.includes(name) || (await isPortFree(kept))) continue;
    throw new Error(
      `Port ${kept}, which this world keeps for ${name}, is taken by another program. End that, or change ${home.path('ports.json')}.`,
    );
  }
  home.keepServicePort(port);
  return { port, ports };
};
