import { Webhook } from 'lucide-react';
import type { Screen } from '../app/screen.ts';

export const webhooksScreen: Screen = {
  path: 'webhooks',
  title: 'Webhooks',
  icon: Webhook,
  group: 'develop',
  permission: 'webhooks:read',
  words: 'deliveries notifications endpoint signing secret resend',
  load: () => import('./webhooks.tsx'),
  pages: { $webhookId: () => import('./webhook.tsx') },
};
