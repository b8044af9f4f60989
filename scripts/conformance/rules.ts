import { agentSections } from './agent.ts';
import { interfaceSections } from './interface.ts';
import { moneySections } from './money.ts';
import type { ConformanceSection } from './proof.ts';
import { resourceSections } from './resources.ts';
import { serviceSections } from './service.ts';
import { wireSections } from './wire.ts';

/** Every rule, section by section, in the order in which they are read. */
export const conformanceSections: readonly ConformanceSection[] = [
  ...resourceSections,
  ...interfaceSections,
  ...wireSections,
  ...moneySections,
  ...serviceSections,
  ...agentSections,
];
