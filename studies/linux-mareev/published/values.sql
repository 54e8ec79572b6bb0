with runs_long as (unpivot (select traffic, pair, total_mbps, rtt_mean_s, jain, queue_mean_pkts, drops, retransmissions
  from runs where backend like 'linux:%') on total_mbps, rtt_mean_s, jain, queue_mean_pkts, drops, retransmissions
  into name metric value value),
controls as (select traffic, pair, algorithm, 'avg_mbps' as metric, avg(bytes_delivered * 8e-6 / window_s) as value
  from flows join (select key, window_s from runs where backend like 'linux:%') using (key)
  where traffic = 'opposite' and pair in ('cubic-bbr', 'bbr-bbr+cubic') group by all),
told as (
  select case pair when 'cubic-bbr' then 2 else 3 end as "table", traffic, algorithm as pair, metric, value from controls
  union all
  select case metric when 'total_mbps' then 1 when 'rtt_mean_s' then 4 when 'jain' then 5 when 'queue_mean_pkts' then 6
    when 'drops' then 7 else 8 end, traffic, pair, metric, value from runs_long)
select "table", traffic, pair, metric, printf('%.5g', value) as value from told where value is not null
order by "table", traffic, pair
