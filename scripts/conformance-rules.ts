import { interfaceSections } from './conformance-interface.ts';
import type { ConformanceSection } from './conformance-proof.ts';
import { resourceSections } from './conformance-resources.ts';
import { serviceSections } from './conformance-service.ts';
import { wireSections } from './conformance-wire.ts';

/** Every rule, section by section, in the order in which they are read. */
export const conformanceSections: readonly ConformanceSection[] = [
  ...resourceSections,
  ...interfaceSections,
  ...wireSections,
  ...serviceSections,
];
