using Voron.Format;

namespace Voron.Recovery;

/// <summary>Receives each record of the chain, in order.</summary>
internal unsafe interface IRecordVisitor
{
    /// <summary>Receives a valid record, whose memory remains valid until the call returns.</summary>
    void Visit(RecordHeader* record, string path);
}
