import type { MemberPermission } from '@florin/protocol/permission.ts';
import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';

/** A module of a screen, loaded when it is first shown. */
type LoadScreen = () => Promise<{ readonly default: ComponentType }>;

/** Where the screen stands in the navigation; `none` for screens that others lead to. */
export type ScreenGroup =
  | 'main'
  | 'sell'
  | 'develop'
  | 'business'
  | 'money'
  | 'merchants'
  | 'installation'
  | 'none';

export interface Screen {
  /** Below the merchant or `operator`, as `payments`; empty for the first screen. */
  readonly path: string;
  readonly title: string;
  readonly icon: LucideIcon;
  readonly group: ScreenGroup;
  /** Shown to members whose role has this permission; to all when absent. */
  readonly permission?: MemberPermission;
  /** Other words that a person may search for in the command menu. */
  readonly words?: string;
  /** The component is the module's default export. */
  readonly load: LoadScreen;
  /** Pages below the screen, by path, as `$sessionId`; TanStack Router's notation. */
  readonly pages?: Readonly<Record<string, LoadScreen>>;
}
