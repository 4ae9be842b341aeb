namespace Voron.Documents.Web;

/// <summary>A request that is answered with an error.</summary>
internal sealed class ServerException(int status, string message) : Exception(message)
{
    public int Status => status;
}
