// One cell of the studies piotrowska and ns3 in ns-3, release 3.37 or later: what `sojourn bench --against ns3` measures the
// simulator against, and, with --warmUp, what the published values of the study ns3 are from.
//
// A dumbbell: senders - left router - right router - receivers, point-to-point links all. Every sender has the same number
// of bulk TCP flows to every receiver. Hosts have no queue discipline, only their devices' queue; the left router has the
// discipline under test above its device's queue. Nothing else is traced or logged than what is printed.
//
// Prints one line of JSON: the data packets that reached receiving hosts, and the CPU seconds of Simulator::Run(). With
// --warmUp also the metrics of the study, of the time from then on.
//
// Written from ns-3's public interface. `sojourn.bench.ns3` compiles it and says how in one place.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/// The cell, as the command line gives it; times and rates are written as ns-3 reads them.
struct Cell
{
    std::string tcp{"newreno"};
    std::string queue{"droptail"};
    std::string senderRate{"1000000000bps"};
    std::string receiverRate{"1000000000bps"};
    std::string bottleneckRate{"1000000000bps"};
    std::string senderDelays{"10000ns,10000ns,100000ns"};
    std::string receiverDelays{"10000ns,100000ns,100000ns"};
    std::string bottleneckDelay{"0ns"};
    std::string target{"2000000ns"};
    std::string interval{"100000000ns"};
    uint32_t queueLimit{900};
    uint32_t deviceQueue{100};
    uint32_t hostQueue{100};
    uint32_t flowsPerPair{1};
    uint32_t segment{1448};
    uint32_t buffer{16777216};
    uint32_t initialWindow{10};
    double cubicBeta{0.8};
    bool hystart{false};
    bool departureRate{true};
    bool ecn{false};
    bool randomStarts{false};
    double seconds{4};
    double warmUp{-1};
    double startWithin{3};
    uint32_t seed{1};
};

/// The names of congestion controls here and in ns-3.
const std::map<std::string, std::string> CONTROLS{{"bbr", "ns3::TcpBbr"},
                                                  {"bic", "ns3::TcpBic"},
                                                  {"cubic", "ns3::TcpCubic"},
                                                  {"dctcp", "ns3::TcpDctcp"},
                                                  {"hybla", "ns3::TcpHybla"},
                                                  {"ledbat", "ns3::TcpLedbat"},
                                                  {"lp", "ns3::TcpLp"},
                                                  {"newreno", "ns3::TcpNewReno"},
                                                  {"scalable", "ns3::TcpScalable"},
                                                  {"vegas", "ns3::TcpVegas"},
                                                  {"veno", "ns3::TcpVeno"}};

/// The first flow's sink of a receiver listens here, the others' at the ports after it.
constexpr uint16_t FIRST_PORT = 5001;

/// What no acknowledgement can fill: the queue of devices whose queue is not part of the cell.
constexpr uint32_t UNLIMITED = 1000000;

/// Counts the data packets that a receiving host's device hands up; what is no longer than a segment carries no full one.
class DataPackets
{
  public:
    explicit DataPackets(uint32_t segment)
        : m_segment{segment}
    {
    }

    void OnReceived(Ptr<const Packet> packet)
    {
        m_count += packet->GetSize() > m_segment ? 1 : 0;
    }

    uint64_t Count() const
    {
        return m_count;
    }

  private:
    uint32_t m_segment;
    uint64_t m_count{0};
};

/// What the discipline and the sinks show from the end of the warm-up on, as the study's metrics.
class Measurement
{
  public:
    Measurement(Ptr<QueueDisc> discipline, ApplicationContainer sinks, DataRate rate, Time warmUp, Time end)
        : m_discipline{discipline},
          m_sinks{sinks},
          m_rate{rate},
          m_warmUp{warmUp},
          m_end{end}
    {
        m_discipline->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Measurement::OnLength, this));
        Simulator::Schedule(m_warmUp, &Measurement::Open, this);
    }

    /// Prints the metrics as members of a JSON object.
    void Print(std::ostream& out)
    {
        OnLength(0, 0);
        const double seconds = (m_end - m_warmUp).GetSeconds();
        std::vector<double> mbps;
        double sum = 0;
        double squares = 0;
        for (uint32_t index = 0; index < m_sinks.GetN(); ++index)
        {
            mbps.push_back((Received(index) - m_received[index]) * 8 / seconds / 1e6);
            sum += mbps.back();
            squares += mbps.back() * mbps.back();
        }
        std::sort(mbps.begin(), mbps.end());
        const double mean = m_area / seconds;
        const QueueDisc::Stats& stats = m_discipline->GetStats();
        const double arrivals = stats.nTotalReceivedPackets - m_arrivals;
        const double drops = stats.nTotalDroppedPackets - m_drops;
        const double bits = (stats.nTotalSentBytes - m_sentBytes) * 8.0;
        out << ", \"q1_mbps\": " << Quantile(mbps, 0.25) << ", \"median_mbps\": " << Quantile(mbps, 0.5)
            << ", \"q3_mbps\": " << Quantile(mbps, 0.75) << ", \"jain\": " << sum * sum / (mbps.size() * squares)
            << ", \"queue_mean_pkts\": " << mean
            << ", \"queue_sd_pkts\": " << std::sqrt(std::max(0.0, m_squares / seconds - mean * mean))
            << ", \"drop_pct\": " << 100 * drops / arrivals
            << ", \"utilisation\": " << bits / (seconds * m_rate.GetBitRate());
    }

  private:
    void Open()
    {
        for (uint32_t index = 0; index < m_sinks.GetN(); ++index)
        {
            m_received.push_back(Received(index));
        }
        const QueueDisc::Stats& stats = m_discipline->GetStats();
        m_arrivals = stats.nTotalReceivedPackets;
        m_drops = stats.nTotalDroppedPackets;
        m_sentBytes = stats.nTotalSentBytes;
        m_length = m_discipline->GetNPackets();
        m_since = Simulator::Now();
        m_open = true;
    }

    void OnLength(uint32_t, uint32_t now)
    {
        if (m_open)
        {
            const double seconds = (Simulator::Now() - m_since).GetSeconds();
            m_area += m_length * seconds;
            m_squares += double(m_length) * m_length * seconds;
        }
        m_since = Simulator::Now();
        m_length = now;
    }

    double Received(uint32_t index) const
    {
        return double(DynamicCast<PacketSink>(m_sinks.Get(index))->GetTotalRx());
    }

    /// By linear interpolation.
    static double Quantile(const std::vector<double>& sorted, double share)
    {
        const double place = share * (sorted.size() - 1);
        const auto below = static_cast<std::size_t>(place);
        const std::size_t above = std::min(below + 1, sorted.size() - 1);
        return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
    }

    Ptr<QueueDisc> m_discipline;
    ApplicationContainer m_sinks;
    DataRate m_rate;
    Time m_warmUp;
    Time m_end;
    bool m_open{false};
    Time m_since;
    uint32_t m_length{0};
    double m_area{0};
    double m_squares{0};
    double m_arrivals{0};
    double m_drops{0};
    double m_sentBytes{0};
    std::vector<double> m_received;
};

std::vector<Time>
Delays(const std::string& list)
{
    std::vector<Time> delays;
    std::istringstream stream{list};
    for (std::string delay; std::getline(stream, delay, ',');)
    {
        delays.emplace_back(delay);
    }
    return delays;
}

QueueSize
Packets(uint32_t limit)
{
    return QueueSize{QueueSizeUnit::PACKETS, limit};
}

void
SetStack(const Cell& cell)
{
    const auto control = CONTROLS.find(cell.tcp);
    NS_ABORT_MSG_IF(control == CONTROLS.end(), "no such congestion control: " << cell.tcp);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue{TypeId::LookupByName(control->second)});
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue{TcpPrrRecovery::GetTypeId()});
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue{cell.segment});
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue{cell.initialWindow});
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue{2});
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue{cell.buffer});
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue{cell.buffer});
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue{true});
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue{true});
    Config::SetDefault("ns3::TcpCubic::Beta", DoubleValue{cell.cubicBeta});
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue{cell.hystart});
}

/// Two nodes joined by a link, each end with a device queue of its own length.
NetDeviceContainer
Join(Ptr<Node> from, Ptr<Node> to, const std::string& rate, const Time& delay, uint32_t fromQueue, uint32_t toQueue)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue{rate});
    link.SetChannelAttribute("Delay", TimeValue{delay});
    NetDeviceContainer devices = link.Install(from, to);
    const uint32_t limits[] = {fromQueue, toQueue};
    for (uint32_t end = 0; end < 2; ++end)
    {
        DynamicCast<PointToPointNetDevice>(devices.Get(end))->GetQueue()->SetMaxSize(Packets(limits[end]));
    }
    return devices;
}

Ptr<QueueDisc>
InstallDiscipline(const Cell& cell, Ptr<NetDevice> device)
{
    const QueueSizeValue limit{Packets(cell.queueLimit)};
    TrafficControlHelper discipline;
    if (cell.queue == "pie")
    {
        discipline.SetRootQueueDisc("ns3::PieQueueDisc",
                                    "MaxSize",
                                    limit,
                                    "QueueDelayReference",
                                    TimeValue{Time{cell.target}},
                                    "UseDequeueRateEstimator",
                                    BooleanValue{cell.departureRate},
                                    "UseEcn",
                                    BooleanValue{cell.ecn});
    }
    else if (cell.queue == "codel")
    {
        discipline.SetRootQueueDisc("ns3::CoDelQueueDisc",
                                    "MaxSize",
                                    limit,
                                    "Target",
                                    StringValue{cell.target},
                                    "Interval",
                                    StringValue{cell.interval},
                                    "UseEcn",
                                    BooleanValue{cell.ecn});
    }
    else
    {
        discipline.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", limit);
    }
    return discipline.Install(device).Get(0);
}

/// Gives both ends of a link addresses; no queue discipline comes with them, as ns-3 would have it.
Ipv4InterfaceContainer
Number(const NetDeviceContainer& devices, Ipv4AddressHelper& addresses)
{
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    addresses.NewNetwork();
    TrafficControlHelper{}.Uninstall(devices);
    return interfaces;
}

/// Starts the flows, each with a sink of its own: evenly spaced, one of each pair of hosts, then the next of each, or at
/// random. Returns the sinks.
ApplicationContainer
StartFlows(const Cell& cell,
           const NodeContainer& senders,
           const NodeContainer& receivers,
           const std::vector<Ipv4Address>& targets)
{
    ApplicationContainer sinks;
    Ptr<UniformRandomVariable> random = CreateObject<UniformRandomVariable>();
    const Time spacing = Seconds(cell.startWithin) / int64_t(cell.flowsPerPair * senders.GetN() * receivers.GetN());
    Time start;
    for (uint32_t flow = 0; flow < cell.flowsPerPair; ++flow)
    {
        for (uint32_t index = 0; index < senders.GetN(); ++index)
        {
            for (uint32_t target = 0; target < receivers.GetN(); ++target)
            {
                const uint16_t port = FIRST_PORT + flow * senders.GetN() + index;
                PacketSinkHelper sink{"ns3::TcpSocketFactory", InetSocketAddress{Ipv4Address::GetAny(), port}};
                sinks.Add(sink.Install(receivers.Get(target)));
                BulkSendHelper source{"ns3::TcpSocketFactory", InetSocketAddress{targets[target], port}};
                source.SetAttribute("SendSize", UintegerValue{cell.segment});
                const Time at = cell.randomStarts ? Seconds(random->GetValue(0, cell.startWithin)) : start;
                source.Install(senders.Get(index)).Start(at);
                start += spacing;
            }
        }
    }
    return sinks;
}

} // namespace

int
main(int argc, char* argv[])
{
    Cell cell;
    CommandLine command{__FILE__};
    command.AddValue("tcp", "the congestion control, such as newreno", cell.tcp);
    command.AddValue("queue", "droptail, pie or codel", cell.queue);
    command.AddValue("senderRate", "rate of the senders' links", cell.senderRate);
    command.AddValue("receiverRate", "rate of the receivers' links", cell.receiverRate);
    command.AddValue("bottleneckRate", "rate between the routers", cell.bottleneckRate);
    command.AddValue("senderDelays", "one-way delay of each sender's link, separated by commas", cell.senderDelays);
    command.AddValue("receiverDelays", "one-way delay of each receiver's link, separated by commas", cell.receiverDelays);
    command.AddValue("bottleneckDelay", "one-way delay between the routers", cell.bottleneckDelay);
    command.AddValue("target", "target of PIE or CoDel", cell.target);
    command.AddValue("interval", "interval of CoDel", cell.interval);
    command.AddValue("queueLimit", "packets the discipline holds", cell.queueLimit);
    command.AddValue("deviceQueue", "packets the device below the discipline holds", cell.deviceQueue);
    command.AddValue("hostQueue", "packets a sender's device holds", cell.hostQueue);
    command.AddValue("flowsPerPair", "flows from each sender to each receiver", cell.flowsPerPair);
    command.AddValue("segment", "payload bytes of a segment", cell.segment);
    command.AddValue("buffer", "bytes of each socket buffer", cell.buffer);
    command.AddValue("initialWindow", "initial congestion window in segments", cell.initialWindow);
    command.AddValue("cubicBeta", "what CUBIC multiplies its window by", cell.cubicBeta);
    command.AddValue("hystart", "whether CUBIC has HyStart", cell.hystart);
    command.AddValue("departureRate", "whether PIE estimates delays from the departure rate", cell.departureRate);
    command.AddValue("ecn", "whether PIE and CoDel mark", cell.ecn);
    command.AddValue("randomStarts", "whether starts are random instead of evenly spaced", cell.randomStarts);
    command.AddValue("warmUp", "seconds before metrics are measured; negative: they are not", cell.warmUp);
    command.AddValue("seconds", "simulated seconds", cell.seconds);
    command.AddValue("startWithin", "seconds over which the starts are spread", cell.startWithin);
    command.AddValue("seed", "seed of PIE and of random starts", cell.seed);
    command.Parse(argc, argv);

    RngSeedManager::SetSeed(cell.seed);
    SetStack(cell);

    const std::vector<Time> senderDelays = Delays(cell.senderDelays);
    const std::vector<Time> receiverDelays = Delays(cell.receiverDelays);
    NodeContainer routers{2};
    NodeContainer senders{static_cast<uint32_t>(senderDelays.size())};
    NodeContainer receivers{static_cast<uint32_t>(receiverDelays.size())};
    InternetStackHelper{}.Install(NodeContainer{routers, senders, receivers});

    Ipv4AddressHelper addresses{"10.1.0.0", "255.255.255.0"};
    const NetDeviceContainer bottleneck =
        Join(routers.Get(0), routers.Get(1), cell.bottleneckRate, Time{cell.bottleneckDelay}, cell.deviceQueue, UNLIMITED);
    Number(bottleneck, addresses);
    const Ptr<QueueDisc> discipline = InstallDiscipline(cell, bottleneck.Get(0));

    for (uint32_t index = 0; index < senders.GetN(); ++index)
    {
        const Ptr<Node> sender = senders.Get(index);
        Number(Join(sender, routers.Get(0), cell.senderRate, senderDelays[index], cell.hostQueue, UNLIMITED), addresses);
    }

    DataPackets delivered{cell.segment};
    std::vector<Ipv4Address> targets;
    for (uint32_t index = 0; index < receivers.GetN(); ++index)
    {
        const Ptr<Node> receiver = receivers.Get(index);
        const NetDeviceContainer devices =
            Join(routers.Get(1), receiver, cell.receiverRate, receiverDelays[index], UNLIMITED, UNLIMITED);
        targets.push_back(Number(devices, addresses).GetAddress(1));
        devices.Get(1)->TraceConnectWithoutContext("MacRx", MakeCallback(&DataPackets::OnReceived, &delivered));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    const ApplicationContainer sinks = StartFlows(cell, senders, receivers, targets);
    std::unique_ptr<Measurement> measurement;
    if (cell.warmUp >= 0)
    {
        measurement = std::make_unique<Measurement>(discipline,
                                                    sinks,
                                                    DataRate{cell.bottleneckRate},
                                                    Seconds(cell.warmUp),
                                                    Seconds(cell.seconds));
    }

    Simulator::Stop(Seconds(cell.seconds));
    const std::clock_t before = std::clock();
    Simulator::Run();
    const double cpuSeconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    std::cout << "{\"data_packets\": " << delivered.Count() << ", \"cpu_seconds\": " << cpuSeconds;
    if (measurement)
    {
        measurement->Print(std::cout);
    }
    std::cout << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
