-- What owners were told of their webhooks lately: an API key may change them all day, and each e-mail needs the count.
create index mails_of_webhooks on mails (merchant_id, created_at) where kind in ('createWebhook', 'updateWebhook');
