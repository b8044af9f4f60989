import { dashboardApi, ofMerchantRoutes } from '@florin/protocol/dashboard-api.ts';
import { proofRoutes, signInRoutes } from '@florin/protocol/dashboard-sign-in.ts';
import { imageUpload } from '@florin/protocol/image-upload.ts';
import {
  memberRoles,
  needsFreshProof,
  provenAtTimes,
  rolePermissions,
} from '@florin/protocol/member-role.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Route } from '@florin/protocol/route.ts';
import { anchorOf } from '../markdown.ts';
import { type DocsPage, heading, linkTo, table } from './page.ts';

/** The API behind the dashboard's pages, and who may call what. */
export function dashboardPage(): DocsPage {
  const routes = Object.entries<Route>(dashboardApi.routes);
  return {
    path: '/docs/api/dashboard',
    title: 'Dashboard’s API',
    summary: 'What the dashboard’s pages call, and which role may call it.',
    blocks: [
      `Paths are below \`${dashboardApi.basePath}\`. A request carries the cookie of a session; those about a merchant name it ` +
        `in the header \`Florin-Merchant\`. Writes need the header \`Origin\` of the dashboard itself, so other sites cannot ` +
        'use a session. Answers are the envelope of the merchant API. Pages and server have one version: other ' +
        'clients use the merchant API.',
      'Where “proof” stands, the person has proven who they are within the last five minutes, by a sign-in or by ' +
        '`POST /me/prove` (else 200204). A new place is one to which the merchant leads no payer yet. A password alone opens nothing of a merchant in production (200203).',
      ...[...Map.groupBy(routes, ([, { tag }]) => tag)].flatMap(([tag, members]) => [
        heading(tag),
        table(
          ['Operation', 'Method and path', 'Who', 'Proof'],
          members.map(([name, route]) => [
            name in merchantApi.routes
              ? linkTo(route.summary, `/docs/api/${anchorOf(tag)}`, route.summary)
              : route.summary,
            `\`${route.method} ${route.path}\``,
            callersOf(name, route),
            needsProof(name, route) ? 'proof' : (provenAtTimes[route.path] ?? ''),
          ]),
        ),
      ]),
      heading('Images'),
      `\`${imageUpload.method} ${imageUpload.path}\` takes a jpeg, png or webp image of at most 5 MB as its body, from who may create a ` +
        'product. It answers the `imageUrl` of the hosted copy, which a product or the branding then names.',
    ],
  };
}

function callersOf(name: string, route: Route): string {
  if (name in signInRoutes) return 'everyone';
  if (route.permissions.length === 0) return 'the person';
  const roles = name in ofMerchantRoutes ? [...memberRoles, 'staff' as const] : (['staff'] as const);
  return roles
    .filter((role) => route.permissions.some((permission) => rolePermissions[role].has(permission)))
    .join(', ');
}

function needsProof(name: string, route: Route): boolean {
  return name in proofRoutes ? route.method === 'POST' : needsFreshProof(route);
}
