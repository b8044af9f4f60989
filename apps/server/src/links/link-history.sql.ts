import { statement } from '@florin/pg';

export const insertLinkVersion = statement({
  name: 'link_version_insert',
  parameters: {
    linkId: 'text',
    merchantId: 'text',
    versionCode: 'text',
    terms: 'jsonb',
    replacedAt: 'timestamptz',
  },
  text: `insert into link_versions (link_id, merchant_id, version_code, terms, replaced_at)
   values (:linkId, :merchantId, :versionCode, :terms, :replacedAt)`,
});

export const deleteOldLinkVersions = statement({
  name: 'link_version_delete_old',
  parameters: { linkId: 'text', kept: 'int8' },
  text: `delete from link_versions where link_id = :linkId and version_ordinal <= (
     select version_ordinal from link_versions where link_id = :linkId
     order by version_ordinal desc offset :kept limit 1)`,
});

// The version that was replaced first after a time was in force then.
export const linkNameAt = statement({
  name: 'link_name_at',
  parameters: { linkId: 'text', at: 'timestamptz' },
  columns: { link_name: 'text' },
  text: `select terms ->> 'linkName' as link_name from link_versions
   where link_id = :linkId and replaced_at > :at order by version_ordinal limit 1`,
});

export const versionsOfLink = statement({
  name: 'link_versions_of_link',
  parameters: { linkId: 'text', limit: 'int8' },
  columns: { version_code: 'text', terms: 'jsonb', replaced_at: 'timestamptz' },
  text: `select version_code, terms, replaced_at from link_versions where link_id = :linkId
   order by version_ordinal desc limit :limit`,
});
