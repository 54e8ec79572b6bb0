// One cell of the study piotrowska in ns-3.37: what `sojourn bench --against ns3` measures the simulator against.
//
// A dumbbell: senders - left router - right router - receivers, point-to-point links all. Every sender has the same number
// of bulk TCP flows to every receiver. Hosts have no queue discipline, only their devices' queue; the left router has the
// discipline under test above its device's queue. Nothing else is traced or logged than the packets that are counted.
//
// Prints one line of JSON: the data packets that reached receiving hosts, and the CPU seconds of Simulator::Run().
//
// Written from ns-3's public interface. `sojourn.bench.ns3` compiles it and says how in one place.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <ctime>
#include <iostream>
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
    double seconds{4};
    double startWithin{3};
    uint32_t seed{1};
};

/// Every sink of a receiver listens here.
constexpr uint16_t PORT = 5001;

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
    const TypeId control = cell.tcp == "cubic" ? TcpCubic::GetTypeId() : TcpNewReno::GetTypeId();
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue{control});
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue{TcpPrrRecovery::GetTypeId()});
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue{cell.segment});
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue{cell.initialWindow});
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue{2});
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue{cell.buffer});
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue{cell.buffer});
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue{true});
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue{true});
    Config::SetDefault("ns3::TcpCubic::Beta", DoubleValue{cell.cubicBeta});
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue{false});
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

void
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
                                    BooleanValue{true});
    }
    else if (cell.queue == "codel")
    {
        discipline.SetRootQueueDisc("ns3::CoDelQueueDisc",
                                    "MaxSize",
                                    limit,
                                    "Target",
                                    StringValue{cell.target},
                                    "Interval",
                                    StringValue{cell.interval});
    }
    else
    {
        discipline.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", limit);
    }
    discipline.Install(device);
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

/// Starts the flows one after the other, evenly spaced: one of each pair of hosts, then the next of each.
void
StartFlows(const Cell& cell, const NodeContainer& senders, const std::vector<Ipv4Address>& receivers)
{
    const Time spacing = Seconds(cell.startWithin) / int64_t(cell.flowsPerPair * senders.GetN() * receivers.size());
    Time start;
    for (uint32_t flow = 0; flow < cell.flowsPerPair; ++flow)
    {
        for (uint32_t index = 0; index < senders.GetN(); ++index)
        {
            for (const Ipv4Address& receiver : receivers)
            {
                BulkSendHelper source{"ns3::TcpSocketFactory", InetSocketAddress{receiver, PORT}};
                source.SetAttribute("SendSize", UintegerValue{cell.segment});
                source.Install(senders.Get(index)).Start(start);
                start += spacing;
            }
        }
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    Cell cell;
    CommandLine command{__FILE__};
    command.AddValue("tcp", "newreno or cubic", cell.tcp);
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
    command.AddValue("seconds", "simulated seconds", cell.seconds);
    command.AddValue("startWithin", "seconds over which the starts are spread", cell.startWithin);
    command.AddValue("seed", "seed of PIE", cell.seed);
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
    InstallDiscipline(cell, bottleneck.Get(0));

    for (uint32_t index = 0; index < senders.GetN(); ++index)
    {
        const Ptr<Node> sender = senders.Get(index);
        Number(Join(sender, routers.Get(0), cell.senderRate, senderDelays[index], cell.hostQueue, UNLIMITED), addresses);
    }

    DataPackets delivered{cell.segment};
    std::vector<Ipv4Address> targets;
    PacketSinkHelper sink{"ns3::TcpSocketFactory", InetSocketAddress{Ipv4Address::GetAny(), PORT}};
    for (uint32_t index = 0; index < receivers.GetN(); ++index)
    {
        const Ptr<Node> receiver = receivers.Get(index);
        const NetDeviceContainer devices =
            Join(routers.Get(1), receiver, cell.receiverRate, receiverDelays[index], UNLIMITED, UNLIMITED);
        targets.push_back(Number(devices, addresses).GetAddress(1));
        devices.Get(1)->TraceConnectWithoutContext("MacRx", MakeCallback(&DataPackets::OnReceived, &delivered));
        sink.Install(receiver);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    StartFlows(cell, senders, targets);

    Simulator::Stop(Seconds(cell.seconds));
    const std::clock_t before = std::clock();
    Simulator::Run();
    const double cpuSeconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    std::cout << "{\"data_packets\": " << delivered.Count() << ", \"cpu_seconds\": " << cpuSeconds << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
